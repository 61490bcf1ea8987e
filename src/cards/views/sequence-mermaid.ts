import { escapeMermaidLabel as escaped, renderMermaidSequence } from "../../observe/trace/index.ts";
import type { MessageCard } from "../message-card/index.ts";
import { buildDelegations, type Delegation } from "./delegations.ts";

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
  const places = new Map(cards.map((card, at) => [card, at]));
  let next = 1;
  return renderMermaidSequence(roles, (ids) => {
    const drawCard = (at: number): string[] => {
      const { sender, recipient, message_type, content, metadata } = cards[at] as MessageCard;
      const jump = next === at + 1 ? [] : [`autonumber ${at + 1}`];
      next = at + 2;
      const tokens = metadata.tokens === undefined ? "" : ` (${metadata.tokens} tok)`;
      const label = `${escaped(`[${message_type.toUpperCase()}] ${content}`)}${tokens}`;
      const [from, to] = [ids.get(sender), ids.get(recipient)];
      const arrow = `${from}${ARROWS_BY_TYPE.get(message_type) ?? "->>"}${to}: ${label}`;
      const { options } = metadata;
      const hasOptions = message_type === "query" && Array.isArray(options) && options.length > 0;
      const note = hasOptions ? [`Note over ${from},${to}: ${escaped(options.map(String).join(" | "))}`] : [];
      return [...jump, arrow, ...note];
    };
    /** Draws the message cards at the given positions in order, with parallel branches in a `par` block. */
    const drawAll = (positions: readonly number[], delegations: readonly Delegation[]): string[] => {
      const blocks = findParallelBranches(delegations, places);
      const drawn = new Set<number>();
      return positions.flatMap((at) => {
        if (drawn.has(at)) return [];
        const block = blocks.find((branches) => branches.some((branch) => branch.positions.includes(at)));
        if (!block) return drawCard(at);
        const branches = block.flatMap(({ positions, delegation }, index) => {
          for (const place of positions) drawn.add(place);
          const head = `${index === 0 ? "par" : "and"} task ${(positions[0] ?? 0) + 1}`;
          return [head, ...drawAll(positions, delegation.subtasks).map((line) => `    ${line}`)];
        });
        return [...branches, "end"];
      });
    };
    return drawAll([...cards.keys()], buildDelegations(cards)).map((line) => `    ${line}`);
  });
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

function listDelegationCardPositions(
  { task, relatedCards, reply, subtasks }: Delegation,
  places: ReadonlyMap<MessageCard, number>,
): number[] {
  return [
    ...[task, ...relatedCards, reply].flatMap((card) => (card && places.get(card)) ?? []),
    ...subtasks.flatMap((subtask) => listDelegationCardPositions(subtask, places)),
  ].toSorted((a, b) => a - b);
}
