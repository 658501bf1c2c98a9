// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"encoding/json"
	"fmt"

	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
	"github.com/grafana/grafana-foundation-sdk/go/units"

	"github.com/tacho-go/tacho/internal/conv"
)

// source is the data source that a variable of the dashboard chooses.
var source = common.DataSourceRef{Type: new("prometheus"), Uid: new("${source}")}

// target is a query of a panel.
type target struct {
	expr, legend string
	exemplars    bool
}

// panel is a panel of time series.
type panel struct {
	title, unit, what string
	targets           []target
}

// dashboardJSON builds the dashboard and writes it.
func dashboardJSON() ([]byte, error) {
	//lint:ignore SA1019 Grafana before 12 reads no other kind from a file, and later ones read this
	b := dashboard.NewDashboardBuilder("LLM calls (tacho)").
		Uid("tacho").
		Description("Calls to LLM endpoints as tacho measures them. Look at the failed share beside the latencies: a call that failed has none, or an early one.").
		Tags([]string{"tacho", "llm"}).
		Readonly().
		Tooltip(dashboard.DashboardCursorSyncCrosshair).
		Refresh("30s").
		Time("now-1h", "now").
		Timezone(common.TimeZoneBrowser).
		WithVariable(dashboard.NewDatasourceVariableBuilder("source").Label("Data source").Type("prometheus")).
		WithVariable(dashboard.NewCustomVariableBuilder("by").Label("Apart by").
			Values(dashboard.StringOrMap{String: new(fmt.Sprintf("model : %s, server : %s, region : %s", model, server, region))}).
			Current(option("model", model)))
	for _, v := range []struct{ name, label string }{{"model", model}, {"server", server}, {"region", region}} {
		b.WithVariable(dashboard.NewQueryVariableBuilder(v.name).Label(v.name).Datasource(source).
			Query(dashboard.StringOrMap{String: new(fmt.Sprintf("label_values(%s, %s)", metric(conv.Calls), v.label))}).
			Refresh(dashboard.VariableRefreshOnTimeRangeChanged).
			Sort(dashboard.VariableSortAlphabeticalAsc).
			Multi(true).IncludeAll(true).AllValue(".*").Current(option("All", "$__all")))
	}
	for _, r := range rows() {
		b.WithRow(dashboard.NewRowBuilder(r.title))
		for _, p := range r.panels {
			b.WithPanel(p.build())
		}
	}
	d, err := b.Build()
	if err != nil {
		return nil, err
	}
	out, err := json.MarshalIndent(d, "", "  ")
	return append(out, '\n'), err
}

func option(text, value string) dashboard.VariableOption {
	return dashboard.VariableOption{
		Selected: new(true),
		Text:     dashboard.StringOrArrayOfString{String: &text}, Value: dashboard.StringOrArrayOfString{String: &value},
	}
}

func (p panel) build() *timeseries.PanelBuilder {
	b := timeseries.NewPanelBuilder().Title(p.title).Description(p.what).Unit(p.unit).Datasource(source).
		Min(0).Height(8).Span(8).LineWidth(1).ShowPoints(common.VisibilityModeNever).
		Legend(common.NewVizLegendOptionsBuilder().ShowLegend(true).DisplayMode(common.LegendDisplayModeList).Placement(common.LegendPlacementBottom)).
		Tooltip(common.NewVizTooltipOptionsBuilder().Mode(common.TooltipDisplayModeMulti).Sort(common.SortOrderDescending))
	for i, t := range p.targets {
		b.WithTarget(prometheus.NewDataqueryBuilder().RefId(string(rune('A' + i))).
			Expr(t.expr).LegendFormat(t.legend).Exemplar(t.exemplars).Range().EditorMode(prometheus.QueryEditorModeCode).Datasource(source))
	}
	return b
}

const (
	seconds = units.Seconds
	share   = units.PercentUnit
	number  = units.Short
	rate    = "/s"
)
