import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isRuleApplied, isRuleMatch, parseFaultRule } from "./fault-rule.ts";
import { FaultSwitches } from "./fault-switches.ts";

const stream = { agent: "planner", operation: "SendStreamingMessage", isA2A: true };
const unary = { agent: "planner", operation: "SendMessage", isA2A: true };
const cardRequest = { agent: "planner", operation: "GET", isA2A: false };

describe("a fault rule", () => {
  it.each([
    ["cut:after=3", { fault: "cut", afterEvents: 3 }],
    ["delay:ms=500", { fault: "delay", ms: 500 }],
    ["429:retry-after=2", { fault: "reject", status: 429, retryAfterSeconds: 2 }],
    ["503", { fault: "reject", status: 503 }],
    ["drop", { fault: "drop" }],
    ["drop:frame=2", { fault: "drop", event: 2 }],
    ["duplicate:frame=2", { fault: "duplicate", event: 2 }],
    ["slow:bytes-per-s=100", { fault: "slow", bytesPerSecond: 100 }],
    ["kill", { fault: "kill", ms: 2_000, afterEvents: 0 }],
    ["kill:ms=100,after=2", { fault: "kill", ms: 100, afterEvents: 2 }],
  ])("%s is parsed", (text, effect) => {
    expect(parseFaultRule(text).effect).toEqual(effect);
  });

  it.each([
    ["", "has no known fault"],
    ["explode", "use cut, delay, drop, duplicate, slow, kill, or an HTTP error status such as 429"],
    ["cut", "needs after=NUMBER, a whole number of at least 0"],
    ["cut:after=-1", "needs after=NUMBER"],
    ["cut:after=1.5", "needs after=NUMBER"],
    ["duplicate:frame=0", "a whole number of at least 1"],
    ["delay:ms=1,every", "use KEY=VALUE with the keys ms, match, agent, every, chance, seed, times"],
    ["delay:ms=1,after=2", 'has "after=2"'],
    ["drop:chance=2", "a number from 0 to 1"],
    ["200", "has no known fault"],
    ["constructor", "has no known fault"],
  ])("%j is refused with an explanation", (text, explanation) => {
    expect(() => parseFaultRule(text)).toThrow(explanation);
  });

  it("for single events matches only streams, and other rules match only A2A operations", () => {
    expect(isRuleMatch(parseFaultRule("cut:after=3"), stream)).toBe(true);
    expect(isRuleMatch(parseFaultRule("cut:after=3"), unary)).toBe(false);
    expect(isRuleMatch(parseFaultRule("drop"), unary)).toBe(true);
    expect(isRuleMatch(parseFaultRule("drop:frame=1"), unary)).toBe(false);
    expect(isRuleMatch(parseFaultRule("429"), cardRequest)).toBe(false);
    expect(isRuleMatch(parseFaultRule("429:match=GET|SendMessage"), cardRequest)).toBe(true);
    expect(isRuleMatch(parseFaultRule("429:match=*"), cardRequest)).toBe(true);
    expect(isRuleMatch(parseFaultRule("429:agent=solver"), unary)).toBe(false);
  });

  it("affects every nth matching call, at most `times` calls", () => {
    const switches = new FaultSwitches();
    switches.add("429:every=3,times=2");
    const affected = Array.from({ length: 12 }, () => switches.planFaults(unary).reject !== undefined);
    expect(affected.flatMap((isAffected, at) => (isAffected ? [at + 1] : []))).toEqual([3, 6]);
    expect(switches.list()).toMatchObject([{ matchedCalls: 12, affectedCalls: 2 }]);
  });

  it("with a chance affects about this share of the calls, and the same calls for the same seed", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 2 ** 31 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (seed, chance) => {
          const rule = parseFaultRule(`drop:chance=${chance.toFixed(6)},seed=${Math.min(seed, 1e9)}`);
          const pick = (): boolean[] => Array.from({ length: 2_000 }, (_, at) => isRuleApplied(rule, at + 1));
          const share = pick().filter(Boolean).length / 2_000;
          expect(Math.abs(share - chance)).toBeLessThan(0.08);
          expect(pick()).toEqual(pick());
        },
      ),
    );
  });

  it("can be removed while the tap runs", () => {
    const switches = new FaultSwitches();
    const { id } = switches.add("drop");
    expect(switches.planFaults(unary).dropsResponse).toBe(true);
    expect(switches.remove(id)).toBe(true);
    expect(switches.remove(id)).toBe(false);
    expect(switches.planFaults(unary).dropsResponse).toBe(false);
    expect(switches.hasRules).toBe(false);
  });
});
