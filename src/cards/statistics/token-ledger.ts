import type { ModelCallLine, Recording, RunSample } from "../recording/index.ts";
import type { MessageCard } from "../message-card/index.ts";
import { addTokenCounts, ZERO_TOKENS, toTokenCounts, type TokenCounts } from "./token-counts.ts";

/** Whether what stands on the cards is what the model calls spent. */
export interface TokenLedger {
  readonly ok: boolean;
  /** Problems and roles that were looked at, together. */
  readonly checked: number;
  readonly mismatches: readonly TokenMismatch[];
  /** Roles that somebody else records: what stands on their cards has to be believed. */
  readonly unchecked: readonly string[];
}

export interface TokenMismatch {
  readonly sample_id: string | undefined;
  readonly role: string;
  /** On its cards, and of its calls. */
  readonly cards: TokenCounts;
  readonly calls: TokenCounts;
  /** The cards that do not have what their calls spent. */
  readonly card_ids: readonly string[];
}

/**
 * Compares, for each of the problems and each role that is recorded here, the tokens on its cards with those of its model
 * calls: every call is on one card. Problems that are not done are to be left out: a call may be behind them and its card
 * not yet.
 */
export function computeTokenLedger(
  samples: readonly RunSample[],
  recording: Pick<Recording, "cards" | "calls">,
): TokenLedger {
  const own = new Set([
    ...recording.cards.flatMap(({ dir, at_role }) => (dir === "out" ? at_role : [])),
    ...recording.calls.map(({ role }) => role),
  ]);
  const mismatches: TokenMismatch[] = [];
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
      const found = findTokenMismatch(id, role, theirs, callsOf.get(role) ?? []);
      if (found) mismatches.push(found);
    }
  }
  return { ok: mismatches.length === 0, checked, mismatches, unchecked: [...unchecked] };
}

function findTokenMismatch(
  sample_id: string | undefined,
  role: string,
  cards: readonly MessageCard[],
  calls: readonly ModelCallLine[],
): TokenMismatch | undefined {
  const onCards = new Map<string, TokenCounts>();
  const ofCalls = new Map<string, TokenCounts>();
  for (const { metadata } of cards)
    addTokensToSum(onCards, metadata.card_id ?? "", toTokenCounts(metadata.usage));
  for (const { card_id, usage } of calls) addTokensToSum(ofCalls, card_id, toTokenCounts(usage));
  const card_ids = [...new Set([...onCards.keys(), ...ofCalls.keys()])].filter(
    (id) => !hasSameTokens(onCards.get(id) ?? ZERO_TOKENS, ofCalls.get(id) ?? ZERO_TOKENS),
  );
  if (card_ids.length === 0) return undefined;
  return { sample_id, role, cards: sumAllTokens(onCards), calls: sumAllTokens(ofCalls), card_ids };
}

function addTokensToSum(sums: Map<string, TokenCounts>, id: string, tokens: TokenCounts): void {
  sums.set(id, addTokenCounts(sums.get(id) ?? ZERO_TOKENS, tokens));
}

function sumAllTokens(sums: ReadonlyMap<string, TokenCounts>): TokenCounts {
  return [...sums.values()].reduce(addTokenCounts, ZERO_TOKENS);
}

function hasSameTokens(a: TokenCounts, b: TokenCounts): boolean {
  return a.input === b.input && a.output === b.output && a.cached === b.cached && a.reasoning === b.reasoning;
}
