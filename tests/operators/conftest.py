"""Shows what is not known behind the results."""


def pytest_terminal_summary(terminalreporter):
    import test_operators
    if test_operators.judged.cache_info().currsize:
        import judge
        calls = test_operators.judged()
        for line in [*judge.table(calls), *judge.totals(calls)]:
            terminalreporter.write_line(line)
