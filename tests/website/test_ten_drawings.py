"""Ten drawings: what is printed."""


def test_on_paper_they_are_as_nobody_has_moved_them(at):
    page = at("book/ten_drawings").page
    stills = page.locator(".panel .line").all_text_contents()
    page.locator("[data-panel=spike] .take").last.press("End")
    assert page.locator(".panel .line").all_text_contents() != stills
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".panel .line").all_text_contents() == stills
