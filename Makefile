# SPDX-License-Identifier: Apache-2.0

include .ci/versions
export GOTOOLCHAIN = $(GO_TOOLCHAIN)

FUZZTIME ?= 60s
BENCH    ?= .
CORPUS   ?= ../shared

.PHONY: help test race lint golangci fuzz bench corpus stack ci tidy clean

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/\1|\2/p' $(firstword $(MAKEFILE_LIST)) | while IFS='|' read -r t d; do printf '%-10s %s\n' "$$t" "$$d"; done

test: ## test every module of go.work
	go test work

race: ## the same under the race detector
	go test -race work

lint: ## format, licence lines, tidy modules, vet, staticcheck
	.ci/run gofmt spdx tidy vet staticcheck

golangci: ## golangci-lint over every module of go.work; the first run builds it
	go run $(GOLANGCI_LINT) run $$(go list -f '{{.Dir}}/...' -m)

fuzz: ## fuzz each target for FUZZTIME (60s)
	FUZZTIME=$(FUZZTIME) .ci/run fuzz

bench: ## run the benchmarks that match BENCH (all), those of bench/ too if it is there
	go test -run '^$$' -bench '$(BENCH)' -benchmem ./...
	@if [ -f bench/go.mod ]; then set -x; cd bench && GOWORK=off go test -run '^$$' -bench '$(BENCH)' -benchmem ./...; fi

corpus: ## replay the recorded exchanges in CORPUS (../shared)
	TACHO_CORPUS='$(abspath $(CORPUS))' go test -count=1 -v -run Corpus ./...

stack: ## a collector, Prometheus and VictoriaLogs up, a service's calls asked for, down; the first run builds them
	cd deploy && TACHO_PROGRAMS=$$(../.ci/programs) GOWORK=off go run ./stack

ci: ## everything that CI runs
	.ci/run

tidy: ## gofmt -w and go mod tidy in every module
	gofmt -w $$(find . -name '*.go' -not -path '*/.*' -not -path '*/node_modules/*')
	find . -name go.mod -not -path '*/.*' -not -path '*/node_modules/*' -execdir env GOWORK=off go mod tidy \;

clean: ## remove test caches, test binaries, profiles and results
	go clean -testcache -fuzzcache
	find . -name '*.test' -type f -not -path './.git/*' -delete
	find . -name '*.pprof' -type f -not -path './.git/*' -delete
	rm -rf out
