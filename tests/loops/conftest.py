"""Shows the table behind the results."""


def pytest_terminal_summary(terminalreporter):
    import test_loops
    if test_loops.judged.cache_info().currsize:
        import judge
        for line in judge.report(test_loops.judged()):
            terminalreporter.write_line(line)
