import no_such_package_anywhere


def test_never():
    no_such_package_anywhere.use()
