import type { RecordedCall, RecordedSample } from "../recording/index.ts";
import type { MessageCard } from "../message-card/index.ts";
import { addTokenCounts, ZERO_TOKENS, convertUsageToTokenCounts, type TokenCounts } from "./token-counts.ts";

/** Comparison between the token counts of message cards and model calls. */
export interface CardCallTokenComparison {
  readonly ok: boolean;
  /** Number of problem and role pairs whose token counts were compared. */
  readonly checked: number;
  readonly mismatches: readonly CardCallTokenMismatch[];
  /** Roles whose tokens cannot be checked, because another process records their model calls. */
  readonly unchecked: readonly string[];
}

/** Problem and role whose message cards and model calls have different token counts. */
interface CardCallTokenMismatch {
  readonly sample_id: string | undefined;
  readonly role: string;
  /** Token counts on the role's message cards. */
  readonly cards: TokenCounts;
  /** Token counts of the role's model calls. */
  readonly calls: TokenCounts;
  /** IDs of the message cards whose token counts differ from the token counts of their model calls. */
  readonly card_ids: readonly string[];
}

/**
 * Compares the token counts of message cards and model calls for each problem and each recorded role. Pass
 * only finished problems. In unfinished problems, a model call can be recorded before its message card.
 */
export function compareCardAndCallTokens(
  samples: readonly Pick<RecordedSample, "id" | "cards" | "calls">[],
  allCalls: readonly RecordedCall[],
): CardCallTokenComparison {
  const recordedRoles = new Set(allCalls.map(({ role }) => role));
  const mismatches: CardCallTokenMismatch[] = [];
  let checked = 0;
  const unchecked = new Set<string>();
  for (const { id, cards, calls } of samples) {
    const cardsByRole = Map.groupBy(cards, ({ sender }) => sender);
    const callsByRole = Map.groupBy(calls, ({ role }) => role);
    for (const role of new Set([...cardsByRole.keys(), ...callsByRole.keys()])) {
      const roleCards = cardsByRole.get(role) ?? [];
      if (!recordedRoles.has(role)) {
        if (roleCards.some(({ metadata }) => metadata.usage)) unchecked.add(role);
        continue;
      }
      checked += 1;
      const mismatch = findCardCallTokenMismatch(id, role, roleCards, callsByRole.get(role) ?? []);
      if (mismatch) mismatches.push(mismatch);
    }
  }
  return { ok: mismatches.length === 0, checked, mismatches, unchecked: [...unchecked] };
}

function findCardCallTokenMismatch(
  sample_id: string | undefined,
  role: string,
  cards: readonly MessageCard[],
  calls: readonly RecordedCall[],
): CardCallTokenMismatch | undefined {
  const cardTokens = new Map<string, TokenCounts>();
  const callTokens = new Map<string, TokenCounts>();
  for (const { metadata } of cards)
    addTokensToSum(cardTokens, metadata.card_id ?? "", convertUsageToTokenCounts(metadata.usage));
  for (const { cardId, usage } of calls) addTokensToSum(callTokens, cardId, convertUsageToTokenCounts(usage));
  const card_ids = [...new Set([...cardTokens.keys(), ...callTokens.keys()])].filter(
    (id) => !hasSameTokens(cardTokens.get(id) ?? ZERO_TOKENS, callTokens.get(id) ?? ZERO_TOKENS),
  );
  if (card_ids.length === 0) return undefined;
  return { sample_id, role, cards: sumAllTokens(cardTokens), calls: sumAllTokens(callTokens), card_ids };
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
