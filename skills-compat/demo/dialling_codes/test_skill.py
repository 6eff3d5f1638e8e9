from skill import DiallingCodes


def test_a_country_has_its_code_and_others_have_none():
    skill = DiallingCodes()
    assert skill.execute({"country": " japan"}) == {"code": "+81"}
    assert skill.execute({"country": "Atlantis"}) == {"code": None}
