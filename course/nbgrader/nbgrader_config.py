"""What nbgrader does in this folder: marks that no fault and no trick of another moves.

nbgrader reads this file when it is started here. The steps are in README.md.
"""

import ast
import builtins
import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat.v4 import new_code_cell, new_output
from nbgrader import preprocessors, utils
from nbgrader.api import Gradebook

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from alone import alone  # noqa: E402


class OverwriteCells(preprocessors.OverwriteCells):
    """Puts back the locked cells and the proofs that a student deleted, too."""

    def preprocess(self, nb, resources):
        for cell in nb.cells:
            cell.metadata.pop("tags", None)  # one of them would skip a check
        nb, resources = super().preprocess(nb, resources)
        with Gradebook(self.db_url) as gradebook:
            source = gradebook.find_notebook(self.notebook_id, self.assignment_id)
            worth = {cell.name: cell.max_score for cell in source.grade_cells}
            answers = {cell.name for cell in source.solution_cells}
            below = 0
            for cell in source.source_cells:
                notes = [c.metadata.get("nbgrader", {}) for c in nb.cells]
                names = [note.get("grade_id") for note in notes]
                if cell.name in names:
                    below = names.index(cell.name) + 1
                elif cell.name in worth or cell.locked:
                    new = new_code_cell(cell.source)
                    if cell.name in worth:  # below all that may be its answer
                        known = (i for i, name in enumerate(names) if name)
                        below = next((i for i in known if i >= below), len(names))
                        proof = cell.name in answers
                        new = self.missing_cell_transform(cell, worth[cell.name], proof)
                    nb.cells.insert(below, new)
                    below += 1
        return nb, resources


class Execute(preprocessors.Execute):
    """A kernel for each submission, which sees the files beside it, and no notebook.

    A cell that ends Python, or does not end in time, is left out, and all others run
    again without it: it costs its own points, and no others.
    """

    def preprocess(self, nb, resources):
        self.timeout_func = self.seconds
        while True:
            self.running = None
            with TemporaryDirectory() as meeting:
                self.meeting = Path(meeting)
                try:
                    return super().preprocess(nb, resources)
                except (DeadKernelError, CellTimeoutError) as error:
                    if self.running is None:
                        raise
                    kind = type(error).__name__
                    self.running.outputs = [new_output("error", ename=kind, evalue="")]
                    self.running.metadata["tags"] = [self.skip_cells_with_tag]

    def seconds(self, cell):
        """For a cell; the set-up is no student's, and may be slow on a busy machine."""
        ours = utils.is_locked(cell) and not utils.is_grade(cell)
        return 900 if ours else self.timeout

    def preprocess_cell(self, cell, resources, index):
        self.running = cell
        return super().preprocess_cell(cell, resources, index)

    def create_kernel_manager(self):
        manager = super().create_kernel_manager()
        manager.transport = "ipc"  # files in a folder: the kernel has no network
        manager.connection_file = str(self.meeting / "kernel.json")
        folder = Path(self.resources["metadata"]["path"])
        kernel = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        manager.kernel_spec.argv = [*alone(folder, self.meeting), *kernel]
        return manager


class SaveAutoGrades(preprocessors.SaveAutoGrades):
    """A person looks at each proof: it may be on paper, or in a new cell."""

    def _add_score(self, cell, resources):
        super()._add_score(cell, resources)
        if utils.is_solution(cell):
            name = cell.metadata.nbgrader["grade_id"]
            place = self.notebook_id, self.assignment_id, self.student_id
            grade = self.gradebook.find_grade(name, *place)
            grade.auto_score, grade.needs_manual_grade = None, True
            self.gradebook.db.commit()


LEFT_OUT = {
    "CellTimeoutError": "This cell did not end in time, and was left out.",
    "DeadKernelError": "This cell ended Python, and was left out.",
}


class OwnWords(preprocessors.NbGraderPreprocessor):
    """Feedback says what a check that failed says in view, and what was left out.

    What an answer printed may be a hidden test, in whatever disguise. Its student has
    seen the rest.
    """

    def preprocess_cell(self, cell, resources, _):
        if cell.cell_type == "code":
            failed = [o for o in cell.outputs if o.output_type == "error"]
            texts = [LEFT_OUT[o.ename] for o in failed if o.ename in LEFT_OUT]
            if failed and not texts and utils.is_grade(cell):
                texts = [said(cell.source, failed[0])]
            cell.outputs = [new_output("stream", text=text) for text in texts[:1]]
        return cell, resources


def said(check, failed):
    """The message of a check, with … in the place of values; else the kind of error."""
    for node in ast.walk(ast.parse(check)):
        if isinstance(node, ast.Assert) and node.msg:
            parts = getattr(node.msg, "values", [node.msg])  # of an f-string, or it
            words = [getattr(part, "value", "") for part in parts]
            words = [word if isinstance(word, str) else "" for word in words]
            pattern = "".join(re.escape(word) or ".*" for word in words)
            if any(words) and re.fullmatch(pattern, failed.evalue, re.DOTALL):
                return "".join(word or "…" for word in words)
    known = hasattr(builtins, failed.ename) and failed.ename != "AssertionError"
    return f"This check failed. {failed.ename * known}".strip()


c = get_config()  # noqa: F821
c.CourseDirectory.course_id = "positional-encodings"
c.CourseDirectory.root = str(HERE)
c.ClearSolutions.code_stub = {"python": ""}  # the stub stands above the solution
c.ClearSolutions.text_stub = ""  # of a proof: the sentence above stays
c.Execute.timeout = 60  # seconds a cell
c.Execute.interrupt_on_timeout = False
c.Autograde.sanitize_preprocessors = [
    preprocessors.ClearOutput,
    preprocessors.DeduplicateIds,
    preprocessors.OverwriteKernelspec,
    OverwriteCells,
    preprocessors.CheckCellMetadata,
]
c.Autograde.autograde_preprocessors = [
    Execute,
    preprocessors.LimitOutput,
    SaveAutoGrades,
    preprocessors.AssignLatePenalties,
    preprocessors.CheckCellMetadata,
]
c.GenerateFeedback.force = True  # anew each time: points and comments change
c.GenerateFeedback.preprocessors = [
    preprocessors.GetGrades,
    OwnWords,
    preprocessors.ClearHiddenTests,
    "nbconvert.preprocessors.CSSHTMLHeaderPreprocessor",
]
# Moodle's "Download all submissions", renamed copies too: `nbgrader zip_collect`.
c.FileNameCollectorPlugin.named_regexp = (
    r".*/(?P<student_id>[^/]+?_\d+)_assignsubmission_file_?/?"
    r"(?P<file_id>[^/]*?)(?: ?\(\d+\))?\.ipynb$"
)
