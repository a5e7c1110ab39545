def drive(program):
    program.demo()
