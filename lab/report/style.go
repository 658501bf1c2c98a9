// SPDX-License-Identifier: Apache-2.0

package report

// style is the page's. The colours of series are Okabe and Ito's, which the
// colour-blind can tell apart (Color Universal Design, 2008), darker on white and
// lighter on black so that each has a contrast of 3 : 1 or more.
const style = `
:root{color-scheme:light dark;--bg:#fff;--fg:#1b1f24;--dim:#57606a;--rule:#d0d7de;--soft:#f6f8fa;--warn:#fff4d6;--warnrule:#9a6700;
--s0:#0072b2;--s1:#c24e00;--s2:#007a5a;--s3:#a8507f;--s4:#946200;--s5:#2a80b0;--s6:#4d4d4d;--s7:#7a5bc0}
@media (prefers-color-scheme:dark){:root{--bg:#0d1117;--fg:#e6edf3;--dim:#9198a1;--rule:#3d444d;--soft:#161b22;--warn:#3a2d08;--warnrule:#d29922;
--s0:#4aa8e0;--s1:#f0803c;--s2:#2fbf93;--s3:#d98cb8;--s4:#e6a93a;--s5:#86c8ee;--s6:#b8b8b8;--s7:#ae96e8}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;overflow-wrap:anywhere}
main{max-width:76rem;margin:0 auto;padding:1.5rem 1rem 4rem}
h1{font-size:1.7rem;line-height:1.25;margin:.5rem 0}
h2{font-size:1.2rem;margin:2.2rem 0 .5rem;padding-bottom:.2rem;border-bottom:1px solid var(--rule)}
p{margin:.5rem 0;max-width:46rem}
.subject{font-size:1.05rem}
.small,.notes,.footnotes{color:var(--dim);font-size:.87rem}
.notes,.footnotes{margin:.5rem 0;padding-left:1.3rem;max-width:46rem}
.warnings{background:var(--warn);border:1px solid var(--warnrule);border-left-width:6px;border-radius:4px;padding:.7rem 1rem;margin:0 0 1.2rem}
.warnings ul{margin:.3rem 0 0;padding-left:1.2rem}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1.2rem;margin:1rem 0;font-size:.93rem}
dt{color:var(--dim)}
dd{margin:0}
nav ul{display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;list-style:none;padding:0;margin:1rem 0}
a{color:var(--s0)}
.scroll{overflow-x:auto}
table{border-collapse:collapse;margin:.6rem 0;font-size:.92rem;font-variant-numeric:tabular-nums;overflow-wrap:normal}
caption{text-align:left;font-weight:600;padding:.3rem 0}
th,td{padding:.28rem .6rem;text-align:left;vertical-align:top;border-bottom:1px solid var(--rule)}
thead th{border-bottom:2px solid var(--rule);vertical-align:bottom;background:var(--soft)}
tbody th{font-weight:500}
th.n,td.n{text-align:right;white-space:nowrap}
td{min-width:2.5rem}.t{white-space:nowrap}td:not(.n):not(.t){min-width:12rem}
.unit{color:var(--dim);font-weight:400}
sup{display:inline-block;min-width:.8em;text-align:left;font-size:.7em;line-height:1}
figure{margin:1rem 0}
figcaption{font-weight:600}
figure>.scroll>svg{display:block;width:100%;min-width:32rem;max-width:60rem;height:auto}
svg text{fill:var(--fg);font-size:12px}
svg .g{stroke:var(--rule);stroke-width:1}
svg .a{stroke:var(--dim);stroke-width:1}
svg .l{fill:none;stroke:var(--c);stroke-width:2;stroke-linejoin:round}
svg .thin{stroke-width:1;opacity:.75}
svg .f{fill:var(--c)}
svg .open{fill-opacity:.35;stroke:var(--c);stroke-dasharray:3 2}
svg .limit{stroke:var(--fg);stroke-width:1.5;stroke-dasharray:2 3}
.s0{--c:var(--s0)}.s1{--c:var(--s1)}.s2{--c:var(--s2)}.s3{--c:var(--s3)}.s4{--c:var(--s4)}.s5{--c:var(--s5)}.s6{--c:var(--s6)}.s7{--c:var(--s7)}
svg .d1{stroke-dasharray:8 3}
svg .d2{stroke-dasharray:3 3}
svg .d3{stroke-dasharray:10 3 2 3}
svg .d4{stroke-dasharray:14 4}
svg .late{stroke-dasharray:1 4;stroke-width:3}
.legend{display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;list-style:none;padding:0;margin:.4rem 0;font-size:.9rem}
.swatch{width:28px;height:12px;margin-right:.4rem}
details{margin:.4rem 0}
summary{cursor:pointer;color:var(--dim);font-size:.9rem}
@media print{:root{color-scheme:light;--bg:#fff;--fg:#000;--dim:#444;--rule:#bbb;--soft:#f4f4f4;--warn:#fff;--warnrule:#000;
--s0:#0072b2;--s1:#c24e00;--s2:#007a5a;--s3:#a8507f;--s4:#946200;--s5:#2a80b0;--s6:#4d4d4d;--s7:#7a5bc0}
main{max-width:none;padding:0}nav{display:none}h2{break-after:avoid}figure,tr,.warnings{break-inside:avoid}figcaption{break-after:avoid}.scroll{overflow:visible}
table{font-size:8.5pt}th,td{padding:.15rem .4rem}}
`
