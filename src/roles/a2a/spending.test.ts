import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { CardUsage } from "../../cards/index.ts";
import { addUsage, Spending } from "./spending.ts";

const usage: fc.Arbitrary<CardUsage> = fc.record(
  {
    input_tokens: fc.nat(1000),
    output_tokens: fc.nat(1000),
    cached_input_tokens: fc.nat(100),
    reasoning_output_tokens: fc.nat(100),
    source: fc.constantFrom("reported" as const, "estimated" as const, "none" as const),
  },
  { requiredKeys: ["input_tokens", "output_tokens", "source"] },
);

type Step =
  | "think"
  | "wait"
  | "done"
  | "leave"
  | { readonly passes: number }
  | { readonly spends: CardUsage };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.constantFrom<Step[]>("think", "wait", "done", "leave"),
  fc.record({ passes: fc.nat(1000) }),
  fc.record({ spends: usage }),
);

let ids = 0;

describe("what a role spends", () => {
  it("is on exactly one card: the next that leaves", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        let now = 0;
        const spending = new Spending(
          () => now,
          () => `c${++ids}`,
        );
        const under: { readonly kind: "think" | "wait"; readonly end: () => void }[] = [];
        const spent: CardUsage[] = [];
        const left: { tokens?: number; usage?: CardUsage; duration_ms?: number }[] = [];
        let busy = 0;
        for (const what of [...steps, "leave" as const]) {
          if (what === "think") under.push({ kind: "think", end: spending.think() });
          else if (what === "wait") under.push({ kind: "wait", end: spending.wait() });
          else if (what === "done") under.shift()?.end();
          else if (what === "leave") left.push(spending.take((card) => card));
          else if ("passes" in what) {
            now += what.passes;
            const idles =
              under.some(({ kind }) => kind === "wait") && under.every(({ kind }) => kind === "wait");
            if (!idles) busy += what.passes;
          } else {
            spending.add(what.spends, "m");
            spent.push(what.spends);
          }
        }
        const sum = (numbers: number[]): number => numbers.reduce((one, other) => one + other, 0);
        expect(sum(left.map(({ duration_ms = 0 }) => duration_ms))).toBeCloseTo(busy);
        expect(sum(left.map(({ tokens = 0 }) => tokens))).toBe(
          sum(spent.map(({ input_tokens, output_tokens }) => input_tokens + output_tokens)),
        );
        expect(left.filter((card) => card.usage).length).toBeLessThanOrEqual(spent.length);
      }),
    );
  });

  it("is as trustworthy as its weakest part, and adds up member by member", () => {
    fc.assert(
      fc.property(usage, usage, (one, other) => {
        const sum = addUsage(one, other);
        expect(sum).toEqual({ ...addUsage(other, one) });
        expect(sum.input_tokens).toBe(one.input_tokens + other.input_tokens);
        const sources = [one.source, other.source];
        const weakest = (["none", "estimated", "reported"] as const).find((source) =>
          sources.includes(source),
        );
        expect(sum.source).toBe(weakest);
        expect("cached_input_tokens" in sum).toBe(
          "cached_input_tokens" in one || "cached_input_tokens" in other,
        );
      }),
    );
  });

  it("stays where it is when the card cannot be written", () => {
    const spending = new Spending(
      () => 0,
      () => `c${++ids}`,
    );
    spending.add({ input_tokens: 1, output_tokens: 2, source: "reported" }, "m");
    const fail = (): never => {
      throw new Error("no card");
    };
    const { cardId } = spending;
    expect(() => spending.take(fail)).toThrow("no card");
    expect(spending.take((card) => card)).toMatchObject({ card_id: cardId, tokens: 3, model: "m" });
    expect(spending.cardId).not.toBe(cardId);
  });
});
