"""Shows how much is known behind the results."""


def pytest_terminal_summary(terminalreporter):
    import test_torchvision
    if test_torchvision.results.cache_info().currsize:
        import judge
        for line in judge.summary(test_torchvision.results()):
            terminalreporter.write_line(line)
