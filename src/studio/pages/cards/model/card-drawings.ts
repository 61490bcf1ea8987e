import {
  buildDelegatedTaskForest,
  flattenDelegations,
  getCardTypeClass,
  toSingleLine,
  type CriticalPathSegment,
} from "../../../../cards/index.ts";
import type { GraphEdge, GraphNode } from "../../flow/graph-layout.ts";
import type { SequenceActivation, SequenceMessage } from "../../flow/sequence-layout.ts";
import type { TimelineWork } from "../../flow/timeline-layout.ts";
import { formatCount, formatDuration } from "../text-format.ts";
import { computeCardCauses } from "./card-causes.ts";
import type { PageCard } from "./run-model.ts";
import { listRolesInCards, type RoleEdge } from "./run-statistics.ts";
import { computeLastArrivalTime, countCardTokens, findCardStatusOrErrorType } from "./sample-summary.ts";

/**
 * Drawings of the message cards of one problem. The key of a card in each drawing is its number within the
 * problem, starting at 1.
 */
export interface CardSequence {
  readonly participants: readonly string[];
  readonly messages: readonly SequenceMessage[];
  readonly activations: readonly SequenceActivation[];
}

/** Returns the key of a message card in all drawings. */
export function formatCardKey(index: number): string {
  return String(index + 1);
}

/** Builds a sequence diagram with one message for each card, in the order the cards were sent. */
export function buildCardSequence(
  cards: readonly PageCard[],
  criticalCards: ReadonlySet<PageCard>,
): CardSequence {
  const rows = new Map(cards.map(({ card }, index) => [card, index]));
  const { roots } = buildDelegatedTaskForest(cards);
  return {
    participants: listRolesInCards(cards.map(({ card }) => card)),
    messages: cards.map((seen, index): SequenceMessage => {
      const { card, sentMs } = seen;
      const previous = cards[index - 1];
      return {
        key: formatCardKey(index),
        from: card.sender,
        to: card.recipient,
        label: card.content,
        notes: formatCardNotes(seen),
        colorClass: getCardTypeClass(card.message_type),
        delayMs: previous && sentMs - previous.sentMs,
        description: describeCard(seen, index),
        isDashed: card.message_type === "result",
        isCritical: criticalCards.has(seen),
      };
    }),
    activations: flattenDelegations(roots).flatMap(({ task, reply }) => {
      const fromRow = rows.get(task);
      const toRow = reply && rows.get(reply);
      return fromRow === undefined || toRow === undefined
        ? []
        : [{ participant: task.recipient, fromRow, toRow }];
    }),
  };
}

/** A timeline with one lane for each role, and one period of work for each message card. */
export interface CardTimeline {
  readonly lanes: readonly string[];
  readonly works: readonly TimelineWork[];
  readonly endMs: number;
}

/**
 * Builds a timeline of the work on each message card. Work lasts for the reported duration, or otherwise since the
 * sender's previous message card. Work is critical if the critical path passes through it.
 */
export function buildCardTimeline(
  cards: readonly PageCard[],
  criticalPath: readonly CriticalPathSegment[],
): CardTimeline {
  const { roots } = buildDelegatedTaskForest(cards);
  const workStarts = new Map(
    flattenDelegations(roots).flatMap(({ workSpans }) =>
      workSpans.map(({ card, start }) => [card, start] as const),
    ),
  );
  const works = cards.map((seen, index) => {
    const { card, sentMs } = seen;
    const fromMs = Math.min(sentMs, workStarts.get(card) ?? sentMs);
    return { seen, card, index, fromMs, toMs: sentMs };
  });
  const criticalCards = new Set(criticalPath.map(({ card }) => card));
  for (const { kind, card, from, to } of criticalPath) {
    // When a role sends several cards after one turn, one card reports the work of the turn, and the path may continue
    // with another card.
    const unreportedUntil = Math.min(to, workStarts.get(card) ?? to);
    for (const other of works) {
      const isSameTurn = other.card.sender === card.sender && other.card.metadata.turn === card.metadata.turn;
      if (kind === "work" && isSameTurn && other.fromMs < unreportedUntil && from < other.toMs)
        criticalCards.add(other.card);
    }
  }
  return {
    lanes: listRolesInCards(cards.map(({ card }) => card)),
    endMs: computeLastArrivalTime(cards),
    works: works.map(({ seen, card, index, fromMs, toMs }) => ({
      key: formatCardKey(index),
      lane: card.sender,
      fromMs,
      toMs,
      label: String(index + 1),
      colorClass: getCardTypeClass(card.message_type),
      description: describeCard(seen, index),
      isCritical: criticalCards.has(card),
    })),
  };
}

/** Builds the causal graph of the message cards of one problem. Edges point from a cause to its effect. */
export function buildCardGraph(
  cards: readonly PageCard[],
  criticalCards: ReadonlySet<PageCard>,
): { readonly nodes: readonly GraphNode[]; readonly edges: readonly GraphEdge[] } {
  const keys = new Map(cards.map((seen, index) => [seen, formatCardKey(index)]));
  const causes = computeCardCauses(cards);
  return {
    nodes: cards.map((seen, index): GraphNode => {
      const { card } = seen;
      return {
        key: formatCardKey(index),
        title: `${index + 1} ${card.message_type} ${card.sender} → ${card.recipient}`,
        lines: [card.content, listCardTimesAndTokens(seen).toReversed().join(" · ")],
        colorClass: getCardTypeClass(card.message_type),
        description: describeCard(seen, index),
        isCritical: criticalCards.has(seen),
      };
    }),
    edges: cards.flatMap((seen) =>
      (causes.get(seen) ?? []).flatMap((cause) => {
        const [from, to] = [keys.get(cause), keys.get(seen)];
        if (from === undefined || to === undefined) return [];
        const isCritical = criticalCards.has(cause) && criticalCards.has(seen);
        return [{ key: `${from} ${to}`, from, to, colorClass: "cause", isCritical }];
      }),
    ),
  };
}

/** Builds the graph of the message cards between roles in all problems. */
export function buildRoleGraph(roleEdges: readonly RoleEdge[]): {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
} {
  const mostCards = Math.max(1, ...roleEdges.map(({ cardCount }) => cardCount));
  const roles = listRolesInCards(roleEdges.map(({ from, to }) => ({ sender: from, recipient: to })));
  return {
    nodes: roles.map((role) => ({
      key: role,
      title: role,
      lines: [],
      colorClass: "role-node",
      description: roleEdges
        .filter(({ from }) => from === role)
        .map(({ to, cardCount }) => toSingleLine(`${role} to ${to}: ${formatCount(cardCount)} cards`))
        .join("; "),
    })),
    edges: roleEdges.map((edge) => {
      const types = Object.entries(edge.countByType).toSorted(([, a], [, b]) => b - a);
      return {
        key: JSON.stringify([edge.from, edge.to]),
        from: edge.from,
        to: edge.to,
        label: types
          .slice(0, 3)
          .map(([type, count]) => `${formatCount(count)} ${type}`)
          .join(", "),
        notes: [
          ...(edge.averageMs === undefined ? [] : [`⌀ ${formatDuration(edge.averageMs)}`]),
          ...(edge.tokens > 0 ? [`⌀ ${formatCount(Math.round(edge.tokens / edge.cardCount))} tok`] : []),
        ].join(" · "),
        colorClass: getCardTypeClass(types[0]?.[0]),
        // The width grows with the logarithm of the number of cards.
        thickness: 1 + (3.5 * Math.log1p(edge.cardCount)) / Math.log1p(mostCards),
      };
    }),
  };
}

function formatCardNotes(seen: PageCard): string {
  const { card } = seen;
  const status = findCardStatusOrErrorType(card);
  return [
    card.message_type,
    ...(status === undefined ? [] : [status]),
    ...(card.metadata["forced"] === true ? ["forced"] : []),
    ...listCardTimesAndTokens(seen),
  ].join(" · ");
}

function listCardTimesAndTokens({ card }: PageCard): string[] {
  const tokens = countCardTokens(card);
  return [
    ...(tokens > 0 ? [`${formatCount(tokens)} tok`] : []),
    ...(card.metadata.duration_ms ? [formatDuration(card.metadata.duration_ms)] : []),
  ];
}

function describeCard({ card }: PageCard, index: number): string {
  const { sender, recipient, message_type, content } = card;
  return toSingleLine(
    `Card ${index + 1}, ${message_type} from ${sender} to ${recipient}: ${content.slice(0, 200)}`,
  );
}
