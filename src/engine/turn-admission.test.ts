import { describe, expect, it } from "vitest";
import { estimateJsonSize } from "../protocol/index.ts";
import type { Caller } from "./caller.ts";
import { resolveEngineLimits, type EngineLimits } from "./engine-limits.ts";
import { TurnAdmission } from "./turn-factory.ts";

const ada: Caller = { tenant: "", principal: "ada" };
const bob: Caller = { tenant: "", principal: "bob" };

function createTestAdmission(limits: Partial<EngineLimits> = {}): TurnAdmission {
  return new TurnAdmission(resolveEngineLimits(limits));
}

const measureRequest = (text = "hi"): number =>
  estimateJsonSize({ message: { messageId: "m", role: "ROLE_USER", parts: [{ text }] } });

/** Admits turns until the first refusal, and returns their number and the text of the refusal. */
function admitUntilRefused(admission: TurnAdmission, caller: Caller, text?: string): [number, string] {
  for (let count = 0; ; count++) {
    try {
      admission.admitTurn(caller, measureRequest(text));
    } catch (error) {
      return [count, (error as Error).message];
    }
  }
}

describe("the admission of turns [E14]", () => {
  it("lets one caller use half of the runs, and another caller a share of the rest [SEC-17]", () => {
    const admission = createTestAdmission();
    expect(admitUntilRefused(admission, ada)).toEqual([
      500,
      "The limit of 1,000 running agents (limits.runs) is reached for this caller; try again in a second.",
    ]);
    expect(admitUntilRefused(admission, bob)[0]).toBe(250);
  });

  it("replaces the share by a fixed maximum of runs per caller", () => {
    const admission = createTestAdmission({ runs: 3, runsPerCaller: 3 });
    expect(admitUntilRefused(admission, ada)[0]).toBe(3);
    const capped = createTestAdmission({ runs: 3, runsPerCaller: 2 });
    expect(admitUntilRefused(capped, ada)).toEqual([2, expect.stringContaining("limits.runsPerCaller")]);
    expect(admitUntilRefused(capped, bob)).toEqual([1, expect.stringContaining("for all callers")]);
  });

  it("lets one caller fill half of the memory for unfinished messages, however few its messages are", () => {
    const admission = createTestAdmission({ unfinishedMessageBytes: 20_000 });
    const [count, text] = admitUntilRefused(admission, ada, "x".repeat(2_000));
    expect(count).toBe(4);
    expect(text).toContain("20,000 bytes of unfinished messages (limits.unfinishedMessageBytes)");
    admission.admitTurn(bob, measureRequest("x".repeat(8_000)));
  });

  it("gives anonymous clients of different networks separate shares", () => {
    const admission = createTestAdmission({ runs: 100 });
    const createAnonymous = (anonymousNetwork: string): Caller => ({
      tenant: "",
      principal: "",
      anonymousNetwork,
    });
    expect(admitUntilRefused(admission, createAnonymous("192.0.2.1"))[0]).toBe(50);
    expect(admitUntilRefused(admission, createAnonymous("192.0.2.2"))[0]).toBe(25);
  });

  it("gives a principal that chooses its tenants one share", () => {
    const admission = createTestAdmission({ runs: 100 });
    expect(admitUntilRefused(admission, { ...ada, tenant: "red", choseTenant: true })[0]).toBe(50);
    expect(admitUntilRefused(admission, { ...ada, tenant: "blue", choseTenant: true })[0]).toBe(0);
  });

  it("returns the share when turns end, and admits turns of an earlier process beyond the limits", () => {
    const admission = createTestAdmission({ runs: 2, runsPerCaller: 1 });
    const endAdmission = admission.admitTurn(ada, measureRequest());
    const endRestored = admission.admitTurn(ada, measureRequest(), "limits");
    expect(admitUntilRefused(admission, ada)[0]).toBe(0);
    endRestored();
    endAdmission();
    expect(admitUntilRefused(admission, ada)[0]).toBe(1);
  });
});
