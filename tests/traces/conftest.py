"""Shows the coverage behind the results."""


def pytest_terminal_summary(terminalreporter):
    import test_traces
    if test_traces.judged.cache_info().currsize:
        import judge
        topics = test_traces.judged()
        for name in topics:
            if f"missed {name}" in topics[name].complaints:
                terminalreporter.write_line(f"missed {name}: " + topics[name].complaints[f"missed {name}"])
        for line in judge.report(topics):
            terminalreporter.write_line(line)
