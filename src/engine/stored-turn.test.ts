import { describe, expect, it } from "vitest";
import { StoredTurn } from "./stored-turn.ts";

describe("the stored turn of a task", () => {
  it("ends with the last event of a claimed task that this node had loaded before the turn [E11, E21]", () => {
    const turn = new StoredTurn(false);
    turn.setClaimed(undefined);
    expect(turn.isRunning).toBe(true);
    expect(turn.getChange("TASK_STATE_COMPLETED", { mustKeepTurnInStore: false })).toBe(false);
  });

  it("does not change with an event of a running turn", () => {
    const turn = new StoredTurn(true);
    expect(turn.getChange("TASK_STATE_WORKING", { mustKeepTurnInStore: true })).toBeUndefined();
    expect(turn.getChange("TASK_STATE_INPUT_REQUIRED", { mustKeepTurnInStore: true })).toBe(false);
  });
});
