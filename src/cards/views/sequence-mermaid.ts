import type { MessageCard } from "../message-card/index.ts";
import type { Delegation } from "./delegated-task-forest.ts";
import { buildSampleDelegationForests, listCardsInDelegation } from "./sample-delegation-forests.ts";
import { escapeMermaid as escaped } from "./mermaid-escape.ts";

/** Mermaid arrow of each core card type. Custom card types use the Mermaid arrow of a task card. */
const ARROWS_BY_TYPE: ReadonlyMap<string, string> = new Map([
  ["result", "-->>"],
  ["control", "-)"],
  ["error", "-x"],
]);

/**
 * Renders message cards as a Mermaid sequence diagram, which GitHub and many editors display.
 * Parallel tasks are rendered in a `par` block. Each message card has the same number in all views.
 */
export function renderSequenceMermaid(cards: readonly MessageCard[]): string {
  const roles = [...new Set(cards.flatMap(({ sender, recipient }) => [sender, recipient]))];
  // Participants have generated IDs, because a role may be called `end`, which ends a block in Mermaid.
  const ids = new Map(roles.map((role, at) => [role, `r${at + 1}`]));
  const places = new Map(cards.map((card, at) => [card, at]));
  const roots = buildSampleDelegationForests(cards).flatMap((exchange) => exchange.roots);
  const lines: string[] = [];
  let next = 1;

  const draw = (card: MessageCard, at: number, indent: string): void => {
    const { sender, recipient, message_type, content, metadata } = card;
    if (next !== at + 1) lines.push(`${indent}autonumber ${at + 1}`);
    next = at + 2;
    const tokens = metadata.tokens === undefined ? "" : ` (${metadata.tokens} tok)`;
    const label = `${escaped(`[${message_type.toUpperCase()}] ${content}`)}${tokens}`;
    const ends = [ids.get(sender), ids.get(recipient)] as const;
    lines.push(`${indent}${ends[0]}${ARROWS_BY_TYPE.get(message_type) ?? "->>"}${ends[1]}: ${label}`);
    const { options } = metadata;
    if (message_type === "query" && Array.isArray(options) && options.length > 0)
      lines.push(`${indent}Note over ${ends.join()}: ${escaped(options.map(String).join(" | "))}`);
  };

  /** Draws the message cards at the given positions in order, with parallel branches in a `par` block. */
  const drawAll = (
    positions: readonly number[],
    delegations: readonly Delegation[],
    indent: string,
  ): void => {
    const blocks = findParallelBranches(delegations, places);
    const drawn = new Set<number>();
    for (const at of positions) {
      if (drawn.has(at)) continue;
      const block = blocks.find((branches) => branches.some((branch) => branch.positions.includes(at)));
      if (!block) draw(cards[at] as MessageCard, at, indent);
      for (const [index, branch] of (block ?? []).entries()) {
        lines.push(`${indent}${index === 0 ? "par" : "and"} task ${(branch.positions[0] ?? 0) + 1}`);
        drawAll(branch.positions, branch.delegation.subtasks, `${indent}    `);
        for (const place of branch.positions) drawn.add(place);
      }
      if (block) lines.push(`${indent}end`);
    }
  };

  drawAll([...cards.keys()], roots, "    ");
  return [
    "sequenceDiagram",
    "    autonumber",
    ...roles.map((role) => `    participant ${ids.get(role)} as ${escaped(role)}`),
    ...lines,
    "",
  ].join("\n");
}

interface ParallelDelegationBranch {
  readonly delegation: Delegation;
  /** Positions of all message cards in the delegation and its descendants, in ascending order. */
  readonly positions: readonly number[];
}

/** Returns all groups of parallel branches. Parallel subtasks of a branch also form a group. */
function findParallelBranches(
  delegations: readonly Delegation[],
  places: ReadonlyMap<MessageCard, number>,
): ParallelDelegationBranch[][] {
  const branches = delegations
    .map((delegation) => ({ delegation, positions: listDelegationCardPositions(delegation, places) }))
    .toSorted((a, b) => (a.positions[0] ?? 0) - (b.positions[0] ?? 0));
  const groups: ParallelDelegationBranch[][] = [];
  let last = -1;
  for (const branch of branches) {
    const [first = 0] = branch.positions;
    if (first < last) groups.at(-1)?.push(branch);
    else groups.push([branch]);
    last = Math.max(last, branch.positions.at(-1) ?? 0);
  }
  return groups.flatMap((group) => {
    const [only] = group;
    return only && group.length === 1 ? findParallelBranches(only.delegation.subtasks, places) : [group];
  });
}

function listDelegationCardPositions(one: Delegation, places: ReadonlyMap<MessageCard, number>): number[] {
  return [
    ...listCardsInDelegation(one).flatMap((card) => places.get(card) ?? []),
    ...one.subtasks.flatMap((subtask) => listDelegationCardPositions(subtask, places)),
  ].toSorted((a, b) => a - b);
}
