import * as fc from "fast-check";
import type { JsonObject, JsonValue } from "../../protocol/index.ts";
import type { Card, CardProtocol } from "./index.ts";
import { CONTROLLER, createCardProtocol, PLANNER, SOLVER } from "./index.ts";

/** A protocol whose cards are c1, c2 … and a second apart. */
export function numbered(): CardProtocol {
  let at = 0;
  return createCardProtocol({
    newId: () => `c${++at}`,
    now: () => Date.UTC(2025, 0, 15, 10, 30, at),
  });
}

/** The six cards of the specification's problem about Janet's ducks. */
export function janet(protocol: CardProtocol = numbered()): Card[] {
  const ask = { from: PLANNER, to: SOLVER } as const;
  const reply = { from: SOLVER, to: PLANNER } as const;
  return [
    protocol.createTaskCard({
      from: CONTROLLER,
      to: PLANNER,
      task: "Janet's ducks lay 16 eggs per day...",
      metadata: { dataset: "gsm8k" },
    }),
    protocol.createTaskCard({ ...ask, task: "Calculate 16 eggs - 3 eaten - 4 muffins" }),
    protocol.createResultCard({ ...reply, result: "9", metadata: { turn: 1, tokens: 120 } }),
    protocol.createTaskCard({ ...ask, task: "Calculate daily income: 9 eggs * $2" }),
    protocol.createResultCard({ ...reply, result: "$18", metadata: { turn: 2 } }),
    protocol.createResultCard({ from: PLANNER, to: CONTROLLER, result: "18", status: "completed" }),
  ];
}

const id = fc.stringMatching(/^[A-Za-z0-9_.:-]{1,12}$/);
const text = fc.string({ unit: "binary" });

const json: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constant(null),
    fc.boolean(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    text,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(
      text.filter((name) => name !== "__proto__"),
      tie("value"),
      { maxKeys: 3 },
    ),
  ),
})).value;

/** Cards of any type between any roles, with anything in them that a card may have. */
export const anyCard: fc.Arbitrary<Card> = fc
  .record({
    sender: id,
    recipient: id,
    message_type: id,
    content: text,
    metadata: fc.record(
      { card_id: id, turn: fc.integer({ min: 1, max: 9 }), tokens: fc.nat(), note: json, más: json },
      { requiredKeys: [] },
    ),
    timestamp: fc
      .date({ min: new Date(0), max: new Date(8e12), noInvalidDate: true })
      .map((date) => date.toISOString()),
  })
  // A plain object, as JSON.parse makes one.
  .map((card) => ({ ...card, metadata: { ...card.metadata } as JsonObject }));
