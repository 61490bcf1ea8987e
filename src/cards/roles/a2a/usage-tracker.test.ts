import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { CardTokenUsage } from "../../index.ts";
import { addUsage } from "../role-model.ts";
import { UsageTracker } from "./model-caller.ts";

const arbitraryUsage: fc.Arbitrary<CardTokenUsage> = fc.record(
  {
    input_tokens: fc.nat(1000),
    output_tokens: fc.nat(1000),
    cached_input_tokens: fc.nat(100),
    reasoning_output_tokens: fc.nat(100),
    source: fc.constantFrom("reported" as const, "estimated" as const, "none" as const),
  },
  { requiredKeys: ["input_tokens", "output_tokens", "source"] },
);

type TrackerStep =
  | "think"
  | "wait"
  | "done"
  | "leave"
  | { readonly elapsedMs: number }
  | { readonly usage: CardTokenUsage };

const arbitraryTrackerStep: fc.Arbitrary<TrackerStep> = fc.oneof(
  fc.constantFrom<TrackerStep[]>("think", "wait", "done", "leave"),
  fc.record({ elapsedMs: fc.nat(1000) }),
  fc.record({ usage: arbitraryUsage }),
);

let ids = 0;

describe("the usage of a role", () => {
  it("is on exactly one card, the next one", () => {
    fc.assert(
      fc.property(fc.array(arbitraryTrackerStep, { maxLength: 40 }), (steps) => {
        let now = 0;
        const spending = new UsageTracker(
          () => now,
          () => `c${++ids}`,
        );
        const under: { readonly kind: "think" | "wait"; readonly end: () => void }[] = [];
        const spent: CardTokenUsage[] = [];
        const left: { tokens?: number; usage?: CardTokenUsage; duration_ms?: number }[] = [];
        let busy = 0;
        for (const what of [...steps, "leave" as const]) {
          if (what === "think") under.push({ kind: "think", end: spending.startTimer("call") });
          else if (what === "wait") under.push({ kind: "wait", end: spending.startTimer("wait") });
          else if (what === "done") under.shift()?.end();
          else if (what === "leave") left.push(spending.flushToCard((card) => card));
          else if ("elapsedMs" in what) {
            now += what.elapsedMs;
            const idles =
              under.some(({ kind }) => kind === "wait") && under.every(({ kind }) => kind === "wait");
            if (!idles) busy += what.elapsedMs;
          } else {
            spending.addModelUsage(what.usage, "m");
            spent.push(what.usage);
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

  it("has the least reliable source of its parts and adds up by member", () => {
    fc.assert(
      fc.property(arbitraryUsage, arbitraryUsage, (one, other) => {
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

  it("is kept when the card cannot be created", () => {
    const spending = new UsageTracker(
      () => 0,
      () => `c${++ids}`,
    );
    spending.addModelUsage({ input_tokens: 1, output_tokens: 2, source: "reported" }, "m");
    const fail = (): never => {
      throw new Error("no card");
    };
    const { nextCardId: cardId } = spending;
    expect(() => spending.flushToCard(fail)).toThrow("no card");
    expect(spending.flushToCard((card) => card)).toMatchObject({ card_id: cardId, tokens: 3, model: "m" });
    expect(spending.nextCardId).not.toBe(cardId);
  });
});
