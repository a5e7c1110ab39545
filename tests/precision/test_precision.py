"""What is said about a fixed sample of real packages is what was read: see README.md. `make precision` has all of them."""

import pytest
import review

# Small enough to be checked each time; the first two have what is reviewed as true.
SAMPLE = ["accelerate/utils", "deepspeed/compile", "torchtune/training"]


@pytest.mark.parametrize("path", SAMPLE)
def test_nothing_new_is_said(path):
    package = path.split("/")[0]
    if why := review.missing(package):
        pytest.skip(why)
    known = [each for each in review.of(package) if each["path"].startswith(path + "/")]
    new, gone = review.compare(review.check(path), known)
    assert not new, "\n".join(map(review.shown, new))
    assert not gone


def test_every_finding_was_read():
    assert not [each for each in review.reviewed()["findings"] if each["verdict"] not in ("true", "false") or not each["why"]]


def test_no_error_is_false_but_those_that_are_known():
    assert {each["path"] for each in review.reviewed()["findings"] if each["verdict"] == "false" and each["severity"] == "error"} <= FALSE


# FIXME: of one call of the function only one of two branches can be meant, by a number of dimensions that another setter may have changed.
# FIXME: in a loop over decoders of several kinds only some are given points, by the keys of a dictionary that is not known.
FALSE = {"timm/layers/pos_embed_rel.py", "transformers/models/perceiver/modeling_perceiver.py"}
