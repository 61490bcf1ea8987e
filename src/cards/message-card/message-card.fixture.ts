import * as fc from "fast-check";
import { arbitraryCharacter } from "../../../test/support/arbitrary-character.ts";
import type { JsonObject, JsonValue } from "../../protocol/index.ts";
import {
  type MessageCard,
  type CardProtocol,
  CONTROLLER,
  createCardProtocol,
  PLANNER,
  SOLVER,
} from "./index.ts";

/** Creates a protocol that numbers cards `c1`, `c2`, and so on, with timestamps one second apart. */
export function createCardProtocolWithNumberedIds(): CardProtocol {
  let at = 0;
  return createCardProtocol({
    newId: () => `c${++at}`,
    now: () => Date.UTC(2025, 0, 15, 10, 30, at),
  });
}

/** Creates the six cards of the specification's problem about Janet's ducks. */
export function createGsm8kExampleCards(
  protocol: CardProtocol = createCardProtocolWithNumberedIds(),
): MessageCard[] {
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

const arbitraryId = fc.stringMatching(/^[A-Za-z0-9_.:-]{1,12}$/);
const arbitraryText = fc.string({ unit: arbitraryCharacter });

const arbitraryJson: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constant(null),
    fc.boolean(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    arbitraryText,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(
      arbitraryText.filter((name) => name !== "__proto__"),
      tie("value"),
      { maxKeys: 3 },
    ),
  ),
})).value;

/** Arbitrary cards of any type between any roles, with arbitrary valid metadata. */
export const arbitraryCard: fc.Arbitrary<MessageCard> = fc
  .record({
    sender: arbitraryId,
    recipient: arbitraryId,
    message_type: arbitraryId,
    content: arbitraryText,
    metadata: fc.record(
      {
        card_id: arbitraryId,
        turn: fc.integer({ min: 1, max: 9 }),
        tokens: fc.nat(),
        note: arbitraryJson,
        más: arbitraryJson,
      },
      { requiredKeys: [] },
    ),
    timestamp: fc
      .date({ min: new Date(0), max: new Date(8e12), noInvalidDate: true })
      .map((date) => date.toISOString()),
  })
  // Copies the metadata into a plain object, as `JSON.parse` returns.
  .map((card) => ({ ...card, metadata: { ...card.metadata } as JsonObject }));
