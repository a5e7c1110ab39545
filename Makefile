# make run      see it work: build, check a real training script, show the fix
# make test     build and pass every test
# make help     the rest
SHELL := /bin/bash
JOBS ?= 2
PREFIX ?= /usr/local
DESTDIR ?=
BUILD := cmake --build --preset
QUIET := > /dev/null

.PHONY: run build documents test test-asan test-tsan test-editors bench precision install package wheel site vsix pictures oracle format tidy clean help

SAY := printf '\n%s\n\n'
run: build
	@$(SAY) '$$ stepzero check examples/train_ddp.py'
	@build/stepzero check examples/train_ddp.py || [ $$? = 1 ]
	@$(SAY) '$$ stepzero check --diff examples/train_ddp.py'
	@build/stepzero check --diff examples/train_ddp.py || [ $$? = 1 ]
	@$(SAY) 'In an editor: the language server is `$(CURDIR)/build/stepzero lsp`; editors/README.md has the set-ups.'

build:
	@cmake/install-dependencies build
	@cmake --preset release $(QUIET)
	@$(BUILD) release --target stepzero -- -j$(JOBS)

documents: build
	@$(BUILD) release --target documents -- -j$(JOBS)

# Every test that needs no browser. Those that run real PyTorch skip where it is not installed (make oracle).
test:
	@cmake/install-dependencies build test package
	@cmake --preset release $(QUIET)
	@$(BUILD) release -- -j$(JOBS)
	@tests/run build -LE 'editors|bench'

# The same tests under AddressSanitizer and UndefinedBehaviorSanitizer, and every fuzz target for FUZZ_SECONDS: one build of both.
FUZZ_SECONDS ?= 30
test-asan:
	@cmake/install-dependencies build test sanitizers
	@cmake --preset asan $(QUIET)
	@$(BUILD) asan -- -j$(JOBS)
	@FUZZ_SECONDS=$(FUZZ_SECONDS) tests/run build-asan -LE 'editors|neovim|bench|oracle|package'

# What runs on several threads, under ThreadSanitizer.
test-tsan:
	@cmake/install-dependencies build test sanitizers
	@cmake --preset tsan $(QUIET)
	@$(BUILD) tsan --target stepzero test_lsp test_protocol test_server -- -j$(JOBS)
	@tests/run build-tsan -R '^(lsp|protocol|server|conformance)'

# Real editors: VS Code in a browser, Neovims, Emacs, Helix. What they need is kept in .cache/; build/editors/ has screenshots.
test-editors:
	@cmake/install-dependencies build test editors
	@cmake --preset release $(QUIET)
	@tests/unpack-newer neovim trixie forky
	@tests/unpack-newer hx trixie
	@tests/vscode/install
	@$(BUILD) release --target stepzero documents -- -j$(JOBS)
	@editors/vscode/scripts/package build build/stepzero.vsix
	@tests/run build -L 'neovim|editors'

# What is said of installed packages against what was read of them, and every architecture of transformers (make oracle first).
precision: build
	@tests/precision/review.py
	@STEPZERO_ALL_MODELS=1 STEPZERO=$(CURDIR)/build/stepzero python3 -m pytest -q -rs -p no:cacheprovider tests/transformers

# The pictures of README.md, as the last run of test-editors saw them.
pictures:
	@cp build/editors/vscode/pictures/*.png editors/pictures/

bench:
	@cmake/install-dependencies build test
	@cmake --preset release $(QUIET)
	@$(BUILD) release -- -j$(JOBS)
	@tests/run build -L bench --verbose

# Real PyTorch for the tests that ask it: today's with the frameworks, 2 GB in .cache/ (tests/oracle/install), and Debian's of
# 2022 (300 MB). Then their word on the cases and the programs of tests/traces that they have not judged yet, and what the
# operators answer.
oracle:
	@cmake/install-dependencies oracle
	@tests/oracle/install
	@tests/cases/oracle.py --record
	@tests/traces/record.py --record-new
	@tests/operators/record.py --record

install: build documents
	@DESTDIR='$(DESTDIR)' cmake --install build --prefix '$(PREFIX)'

# dist/: a tarball to unpack anywhere, and a Debian package.
package: build documents
	@cmake/install-dependencies package
	@cd build && cpack -G 'TGZ;DEB' -B ../dist $(QUIET) && rm -rf ../dist/_CPack_Packages && ls ../dist/stepzero*

# dist/: what `pip install` takes, for every Linux of this processor and, where a cross compiler is, of aarch64.
wheel: documents
	@$(BUILD) release --target stepzero_portable -- -j$(JOBS)
	@packaging/wheel build dist
	@[ "$$(uname -m)" = aarch64 ] || JOBS=$(JOBS) packaging/cross dist

# dist/: the extension of VS Code with the program inside. Its settings are made from the rules of that program.
vsix: build documents
	@editors/vscode/scripts/package build dist/stepzero-linux-x64.vsix && ls dist/*.vsix

# dist/site/: the website, from the rules, the guides and the READMEs (documentation/).
site: build
	@cmake/install-dependencies site
	@documentation/make-site build/stepzero dist/site

format:
	@git ls-files '*.cpp' '*.hpp' | xargs -r clang-format-19 -i

# Likely mistakes (.clang-tidy); FILES='…' for some sources alone.
tidy:
	@cmake/install-dependencies build tidy
	@cmake --preset release $(QUIET)
	@cmake/tidy -j $(JOBS) $(or $(FILES),--joined)

clean:
	rm -rf build build-debug build-asan build-tsan dist

help:
	@echo 'make run           build, then check examples/train_ddp.py and show the fix'
	@echo 'make test          build and run every test (make oracle first: those with real PyTorch too)'
	@echo 'make test-asan     the same under address and undefined-behaviour sanitizers, then the fuzz targets'
	@echo 'make test-tsan     server and protocol under the thread sanitizer'
	@echo 'make test-editors  the tests that drive real editors'
	@echo 'make bench         times and memory against their budgets'
	@echo 'make precision     what is said of real packages, against what was read of them'
	@echo 'make oracle        install PyTorch for the tests'
	@echo 'make install       into PREFIX (/usr/local), below DESTDIR'
	@echo 'make package       a relocatable tarball and a .deb in dist/'
	@echo 'make wheel         what pip installs, in dist/'
	@echo 'make site          the website in dist/site'
	@echo 'make vsix          the extension of VS Code, with the program inside, in dist/'
	@echo 'make pictures      the pictures of README.md, from the last run of test-editors'
	@echo 'make format        clang-format over the sources'
	@echo 'make tidy          clang-tidy over the sources'
	@echo 'make clean         remove what was built'
