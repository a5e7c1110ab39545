def drive(program):
    program.self_check()
