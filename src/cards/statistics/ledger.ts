import type { CallLine, Recording, RunSample } from "../record/index.ts";
import type { Card } from "../card/index.ts";
import { addTokens, NO_TOKENS, tokensOfUsage, type Tokens } from "./usage.ts";

/** Whether what stands on the cards is what the model calls spent. */
export interface Ledger {
  readonly ok: boolean;
  /** Problems and roles that were looked at, together. */
  readonly checked: number;
  readonly mismatches: readonly Mismatch[];
  /** Roles that somebody else records: what stands on their cards has to be believed. */
  readonly unchecked: readonly string[];
}

export interface Mismatch {
  readonly sample_id: string | undefined;
  readonly role: string;
  /** On its cards, and of its calls. */
  readonly cards: Tokens;
  readonly calls: Tokens;
  /** The cards that do not have what their calls spent. */
  readonly card_ids: readonly string[];
}

/**
 * Compares, for each of the problems and each role that is recorded here, the tokens on its cards with those of its model
 * calls: every call is on one card. Problems that are not done are to be left out: a call may be behind them and its card
 * not yet.
 */
export function ledgerOf(
  samples: readonly RunSample[],
  recording: Pick<Recording, "cards" | "calls">,
): Ledger {
  const own = new Set([
    ...recording.cards.flatMap(({ dir, at_role }) => (dir === "out" ? at_role : [])),
    ...recording.calls.map(({ role }) => role),
  ]);
  const mismatches: Mismatch[] = [];
  let checked = 0;
  const unchecked = new Set<string>();
  for (const { id, cards, calls } of samples) {
    const cardsOf = Map.groupBy(cards, ({ sender }) => sender);
    const callsOf = Map.groupBy(calls, ({ role }) => role);
    for (const role of new Set([...cardsOf.keys(), ...callsOf.keys()])) {
      const theirs = cardsOf.get(role) ?? [];
      if (!own.has(role)) {
        if (theirs.some(({ metadata }) => metadata.usage)) unchecked.add(role);
        continue;
      }
      checked += 1;
      const found = mismatch(id, role, theirs, callsOf.get(role) ?? []);
      if (found) mismatches.push(found);
    }
  }
  return { ok: mismatches.length === 0, checked, mismatches, unchecked: [...unchecked] };
}

function mismatch(
  sample_id: string | undefined,
  role: string,
  cards: readonly Card[],
  calls: readonly CallLine[],
): Mismatch | undefined {
  const onCards = new Map<string, Tokens>();
  const ofCalls = new Map<string, Tokens>();
  for (const { metadata } of cards) add(onCards, metadata.card_id ?? "", tokensOfUsage(metadata.usage));
  for (const { card_id, usage } of calls) add(ofCalls, card_id, tokensOfUsage(usage));
  const card_ids = [...new Set([...onCards.keys(), ...ofCalls.keys()])].filter(
    (id) => !equal(onCards.get(id) ?? NO_TOKENS, ofCalls.get(id) ?? NO_TOKENS),
  );
  if (card_ids.length === 0) return undefined;
  return { sample_id, role, cards: total(onCards), calls: total(ofCalls), card_ids };
}

function add(sums: Map<string, Tokens>, id: string, tokens: Tokens): void {
  sums.set(id, addTokens(sums.get(id) ?? NO_TOKENS, tokens));
}

function total(sums: ReadonlyMap<string, Tokens>): Tokens {
  return [...sums.values()].reduce(addTokens, NO_TOKENS);
}

function equal(a: Tokens, b: Tokens): boolean {
  return a.input === b.input && a.output === b.output && a.cached === b.cached && a.reasoning === b.reasoning;
}
