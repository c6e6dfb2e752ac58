SHELL := /bin/bash
export CGO_ENABLED ?= 0

.PHONY: adapters screenshots help man test test-race lint fmt build demo proof bench soak machine mutate fuzz darwin portable

help: ## list what can be made
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

# Many tests wait for processes and terminals: twice as many packages at once as there are processors keep them busy.
TEST_AT_ONCE ?= $(shell echo $$((2 * $$(getconf _NPROCESSORS_ONLN))))

test: ## all tests, the crash, kill and power-loss campaigns included (about 6 minutes on 2 cores)
	go test -p $(TEST_AT_ONCE) ./...

# The race run has what runs at once in one process: not the pure packages, not what only starts other processes.
RACE_SKIP = ^Test(PowerLoss|LostLog|KilledInDelete|KillLoop|KilledWhile|KilledAtAnyTime|KilledBetweenSteps|HandoffKilled|StateFileKilled|KilledInImport|KilledInComingBack|TreesThat|VeryLarge|WhatUndoNeeds|UsedAgain|AFailedImport|ABundleIs|ALargeEvent|AnApplyThatIsKilled|ATakingBackThatIsKilled|ACreationThatIsKilled|MendingThatWasKilled|JoinedLinesOutlive|TenThousandSteps|CheckpointsOutliveTheBases|NoWriteIsTooFast|ALargeInputCosts|DamagedCacheIsNone|OldCapturesOfASession|TreeIsTheDirectory|SyncsOfACreating|ASessionComesBack|APausedSessionMoves|TwoHistoriesAre|ASessionThatGoesOn|ASessionMoves|AForkBringsItsParent|AReplyOfTooMany|ManyCallsOfAReply|StoreOnSimulated|MarkAfterPowerLoss|CorruptBytes)
RACE_NOT = /(bench|cmd/perdure|internal/(blob|bundle|cli(/[a-z]+)?(/(mention|sources))?|demo|export|handoff|ignore|knowledge|permission|restore|seal|search|session|task|tools|tree|test/(attack|canary|proof|shots|sim)|ui/(asks|board|chat|chooser|composer|diffview|markdown|notify|panels|picker|rewind|statusline|taskpanel|textpage|theme|transcript)))$$
test-race: ## what runs at once in one process, under the race detector (needs a C compiler; about 4 minutes)
	CGO_ENABLED=1 go test -race -skip '$(RACE_SKIP)' $$(go list ./... | grep -vE '$(RACE_NOT)')
	CGO_ENABLED=1 go test -race -run 'Control|Inspect|Runner|Survey|Wait' \
	  -skip 'Campaign|Killed|Orphan|Ordinary' ./internal/task
	CGO_ENABLED=1 go test -race -run 'ManyAtOnce|BesideBatches|WaitsForBatches' ./internal/blob
	CGO_ENABLED=1 go test -race -run 'Attach|Asked|AfterSleep|Holder|Stream|Typed|Watch' \
	  ./internal/cli/asking ./internal/cli/run ./internal/cli/screen ./internal/cli/tasks

adapters: ## vet and test the adapters, which are modules of their own (they download what they adapt)
	@set -e; for mod in adapters/*/go.mod; do echo "$${mod%/go.mod}"; \
	  (cd "$${mod%/go.mod}" && go vet ./... && go test ./...); done

lint: ## vet and lint; needs golangci-lint v2
	go vet ./...
	golangci-lint run

fmt: ## format with gofumpt
	gofumpt -w $$(git ls-files '*.go')

build: ## the binary, into bin/
	go build -trimpath -o bin/perdure ./cmd/perdure

man: ## the manual pages, into bin/man/man1
	go run ./cmd/perdure man bin/man/man1

screenshots: build ## the pictures of docs/img, of the real thing in tmux (about a minute; needs tmux and git)
	go run ./internal/test/shots

demo: ## see a session survive a SIGKILL
	go run ./cmd/perdure demo

proof: ## run the campaigns and write their figures into the README
	PERDURE_PROOF=1 go test -count=1 -timeout 60m ./internal/test/proof/...

bench: ## benchmarks, as ratios in one run; results go to bench/README.md by hand
	PERDURE_BENCH=1 go test -count=1 -timeout 60m -v ./bench/...

mutate: ## plant faults one at a time and see whether the tests notice (hours; MUTATE_PKG, MUTATE_FILE, MUTATE_RUN, MUTATE_SKIP, MUTATE_MAX, MUTATE_SEED)
	nice -n 15 go run ./internal/test/mutate -seed $(or $(MUTATE_SEED),1) -max $(or $(MUTATE_MAX),100) -files '$(MUTATE_FILE)' -run '$(MUTATE_RUN)' -skip '$(MUTATE_SKIP)' \
		$(or $(MUTATE_PKG),./internal/session ./internal/engine ./internal/sqlite ./internal/task ./internal/permission)

soak: ## long campaigns: random seeds, a thousand kills, long fuzzing (about an hour)
	PERDURE_SOAK=1 go test -count=1 -timeout 120m ./...
	$(MAKE) fuzz FUZZTIME=5000000x

machine: ## a real reboot, cgroup v2 and a machine that dies, in QEMU (root, qemu-system-x86, debootstrap; about 15 minutes)
	machine/run

FUZZTIME ?= 50000x
fuzz: ## every fuzz target, FUZZTIME inputs each, two at a time (a time may end in a false alarm of the tool)
	@set -e -o pipefail; grep -rho --include='*_test.go' --exclude-dir=adapters -H '^func Fuzz[A-Za-z0-9_]*' . | \
	sed -E 's|/[^/]*:func | |' | sort -u | \
	xargs -P 2 -L 1 bash -c 'echo "$$0 $$1"; said=$$(go test -run "^\$$" -fuzz "^$$1\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 100x $$0 2>&1) || { echo "$$0 $$1: $$said"; exit 1; }'

# Packages whose tests differ from system to system, and are vetted with them.
PORTABLE_TESTS = ./internal/task ./internal/sqlite ./internal/ui/pace
portable: ## build and vet the library for Windows and FreeBSD, most tests apart, and the binary for FreeBSD
	GOOS=freebsd GOARCH=amd64 go build ./...
	@set -e; for os in windows freebsd; do export GOOS=$$os GOARCH=amd64; echo "$$os"; go build . ./store/...; \
	  go list -deps -f '{{$$d := .Dir}}{{with .Module}}{{if .Main}}{{range $$.GoFiles}}{{$$d}}/{{.}} {{end}}{{end}}{{end}}' . ./store/... | \
	  while read -r files; do if [ -n "$$files" ]; then go vet $$files; fi; done; go vet $(PORTABLE_TESTS); done

darwin: ## build and vet for macOS
	GOOS=darwin GOARCH=arm64 go build ./...
	GOOS=darwin GOARCH=arm64 go vet ./...
