# DeskVNC. `make run` opens the viewer on the sample machine, `make test` runs
# every test; both install what is missing first.

GO      ?= go
PREFIX  ?= /usr/local
STATIC  ?= honnef.co/go/tools/cmd/staticcheck@v0.8.2
VERSION := $(shell sed -n 's/^ *Version *= *"\(.*\)"/\1/p' FyneApp.toml)
LDFLAGS := -s -w

# app/deskvnc links OpenGL, whose binding the race detector cannot check.
PLAIN   := deskvnc/app/deskvnc
RACED    = $(shell $(GO) list ./... | grep -v -e '^$(PLAIN)$$' -e '/app/e2e$$')

.PHONY: run build test lint unit e2e cross fuzz-long bench fmt install clean

run: build
	@if [ -n "$$DISPLAY$$WAYLAND_DISPLAY" ]; then bin/deskvnc --sample; \
	else .ci/install run && .ci/picture build/sample.png; fi

build:
	@.ci/install build
	$(GO) build -ldflags '$(LDFLAGS)' -o bin/dvv ./app/dvv
	$(GO) build -ldflags '$(LDFLAGS)' -o bin/deskvnc ./app/deskvnc

test:
	@.ci/install test
	$(MAKE) lint
	$(MAKE) build
	$(MAKE) cross
	$(MAKE) unit
	$(MAKE) e2e

lint:
	@out=$$(gofmt -l app viewer control mcpbridge keychain); if [ -n "$$out" ]; then echo "gofmt would change:"; echo "$$out"; exit 1; fi
	$(GO) vet ./...
	$(GO) run $(STATIC) ./...

unit:
	$(GO) test -race -timeout 20m $(RACED)
	$(GO) test -timeout 10m $(PLAIN)

# The real window under Xvfb, real servers, real MCP conversations.
e2e:
	$(GO) test -count=1 -timeout 15m ./app/e2e

# The command line has no need of C anywhere.
cross:
	CGO_ENABLED=0 GOOS=linux $(GO) build -o /dev/null ./app/dvv
	CGO_ENABLED=0 GOOS=darwin $(GO) build -o /dev/null ./app/dvv
	CGO_ENABLED=0 GOOS=windows $(GO) build -o /dev/null ./app/dvv

# Every fuzz target, FUZZTIME each; the tests run the seeds.
FUZZTIME ?= 10m
fuzz-long:
	GO=$(GO) .ci/fuzz $(FUZZTIME)

bench:
	$(GO) test -run '^$$' -bench . ./viewer/... ./control/... ./mcpbridge/... ./keychain/...

fmt:
	gofmt -w app viewer control mcpbridge keychain

install: build
	install -d $(DESTDIR)$(PREFIX)/bin
	install -m 755 bin/deskvnc bin/dvv $(DESTDIR)$(PREFIX)/bin

clean:
	rm -rf bin build
