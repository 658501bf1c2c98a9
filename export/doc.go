// SPDX-License-Identifier: Apache-2.0

// Package export gives a tacho.Recorder to OpenTelemetry, as a metric producer
// with exponential histograms, and to Prometheus, as a collector with native
// histograms. Nothing is recorded twice: what the recorder counts at some 10 ns a
// value is read when a reader collects or a server is scraped.
//
//	reader := sdkmetric.NewPeriodicReader(exporter, sdkmetric.WithProducer(export.NewProducer(rec)))
//
//	registry.MustRegister(export.NewCollector(rec))
//	http.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
//
// Durations are in seconds, cumulative since the recorder was made. A metric has
// the figure's name behind tacho.recorder, as tacho.recorder.ttft. Its attributes
// are the labels of the recorder's series, under the names of OpenTelemetry's
// conventions where they have one, and gen_ai.request.stream. Quantiles taken
// from its buckets are off by at most the error that tacho.Exponential tells.
package export
