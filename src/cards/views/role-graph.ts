import {
  flattenDelegations,
  buildSampleDelegationForests,
  type CardsOrRecording,
} from "./sample-delegation-forests.ts";
import { computeMean, sumBy } from "../statistics/index.ts";
import { escapeMermaid as escaped } from "./mermaid-escape.ts";

/** Graph of the message cards between roles in all problems of a run. */
export interface RoleGraph {
  /** Roles in the order of their first message card. */
  readonly nodes: readonly RoleGraphNode[];
  readonly edges: readonly RoleGraphEdge[];
}

export interface RoleGraphNode {
  readonly role: string;
  /** Number of message cards that the role sent. */
  readonly cards: number;
  readonly tokens: number;
  /** Total working time of the role on all tasks, in milliseconds. */
  readonly ms: number;
}

/** All message cards from one role to another. */
export interface RoleGraphEdge {
  readonly from: string;
  readonly to: string;
  readonly cards: number;
  readonly byType: Readonly<Record<string, number>>;
  readonly tokens: number;
  /**
   * Mean working time of the sender per message card in milliseconds, or `undefined` if the working time is
   * unknown.
   */
  readonly ms: number | undefined;
}

/** Builds the role graph of a list of message cards or of a recording. */
export function buildRoleGraph(shown: CardsOrRecording): RoleGraph {
  const exchanges = buildSampleDelegationForests(shown);
  const cards = exchanges.flatMap(({ timings }) => timings.map(({ card }) => card));
  const work = new Map(
    exchanges
      .flatMap(({ roots }) => flattenDelegations(roots))
      .flatMap(({ workSpans }) => workSpans.map(({ card, start, end }) => [card, end - start] as const)),
  );
  const roles = [...new Set(cards.flatMap(({ sender, recipient }) => [sender, recipient]))];
  return {
    nodes: roles.map((role) => {
      const sentCards = cards.filter(({ sender }) => sender === role);
      return {
        role,
        cards: sentCards.length,
        tokens: sumBy(sentCards, ({ metadata }) => metadata.tokens ?? 0),
        ms: sumBy(sentCards, (card) => work.get(card) ?? 0),
      };
    }),
    edges: [
      ...Map.groupBy(cards, ({ sender, recipient }) => JSON.stringify([sender, recipient])).values(),
    ].flatMap((group) => {
      const [first] = group;
      if (!first) return [];
      const times = group.flatMap((card) => work.get(card) ?? []);
      return {
        from: first.sender,
        to: first.recipient,
        cards: group.length,
        byType: Object.fromEntries(
          [...Map.groupBy(group, (card) => card.message_type)].map(([type, { length }]) => [type, length]),
        ),
        tokens: sumBy(group, ({ metadata }) => metadata.tokens ?? 0),
        ms: times.length > 0 ? computeMean(times) : undefined,
      };
    }),
  };
}

/** Renders a role graph as a Mermaid flowchart. */
export function renderRoleGraphMermaid({ nodes, edges }: RoleGraph): string {
  const ids = new Map(nodes.map(({ role }, at) => [role, `r${at + 1}`]));
  return [
    "flowchart LR",
    ...nodes.map(
      (node) =>
        `    ${ids.get(node.role)}["${escaped(node.role)}<br/>${escaped(formatRoleNodeLabel(node))}"]`,
    ),
    ...edges.map(
      (edge) => `    ${ids.get(edge.from)} -->|"${escaped(formatRoleEdgeLabel(edge))}"| ${ids.get(edge.to)}`,
    ),
    "",
  ].join("\n");
}

/** Formats the label of a graph edge, for example `2 task · 492 tok · 770 ms each`. */
export function formatRoleEdgeLabel({ byType, tokens, ms }: RoleGraphEdge): string {
  return [
    Object.entries(byType)
      .map(([type, count]) => `${count} ${type}`)
      .join(", "),
    ...(tokens > 0 ? [`${tokens} tok`] : []),
    ...(ms === undefined ? [] : [`${Math.round(ms)} ms each`]),
  ].join(" · ");
}

/** Formats the label of a role in the graph, for example `758 tok · 2150 ms`. */
export function formatRoleNodeLabel({ tokens, ms }: RoleGraphNode): string {
  return `${tokens} tok · ${Math.round(ms)} ms`;
}
