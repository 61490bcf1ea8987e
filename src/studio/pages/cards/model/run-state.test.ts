import { describe, expect, it } from "vitest";
import { createScriptedRecording } from "../../../../cards/recording/recording.fixture.ts";
import { buildCardRunData, RunModel, describeRunState } from "./run-model.ts";

/** A run without an end line. */
function createOpenRun(): RunModel {
  const data = buildCardRunData(createScriptedRecording(), "run");
  return RunModel.fromRunData({ ...data, ends: [] });
}

describe("the state of a run", () => {
  it("comes from its end line", () => {
    const model = RunModel.fromRunData(buildCardRunData(createScriptedRecording(), "run"));
    expect(describeRunState(model, true, Number.MAX_SAFE_INTEGER).label).toBe("completed");
  });

  it("is running while lines arrive, quiet after 15 seconds, and killed if the writer has exited", () => {
    const model = createOpenRun();
    const last = model.lastLineTimeMs;
    expect(describeRunState(model, true, last + 14_999).label).toBe("running");
    expect(describeRunState(model, true, last + 15_000)).toEqual({
      kind: "quiet",
      label: "no new line for 15.0 s: killed or waiting",
    });
    model.writerState = "active";
    expect(describeRunState(model, true, last + 15_000).label).toBe("running, no new line for 15.0 s");
    model.writerState = "exited";
    expect(describeRunState(model, true, last)).toEqual({
      kind: "interrupted",
      label: "killed: no recorded end",
    });
  });

  it("of a file without an end line is unknown", () => {
    expect(describeRunState(createOpenRun(), false, 0).label).toBe(
      "no recorded end: killed or still running",
    );
  });
});
