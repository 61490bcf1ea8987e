import { flattenDelegations, buildSampleExchanges, type CardsOrRecording } from "./sample-exchanges.ts";
import { computeMean, sumBy } from "../statistics/index.ts";
import { escapeMermaid as escaped } from "./mermaid-escape.ts";

/** Who spoke with whom in a whole run, all problems together. */
export interface RoleGraph {
  /** In the order in which the roles first appear. */
  readonly nodes: readonly RoleGraphNode[];
  readonly edges: readonly RoleGraphEdge[];
}

export interface RoleGraphNode {
  readonly role: string;
  /** Cards that it sent. */
  readonly cards: number;
  readonly tokens: number;
  /** Milliseconds that it worked, of all tasks together. */
  readonly ms: number;
}

/** All cards from one role to another. */
export interface RoleGraphEdge {
  readonly from: string;
  readonly to: string;
  readonly cards: number;
  readonly byType: Readonly<Record<string, number>>;
  readonly tokens: number;
  /** How long the sender worked on one of them, on average, in milliseconds; `undefined` where nothing tells. */
  readonly ms: number | undefined;
}

/** The aggregated graph of cards or of a run. */
export function buildRoleGraph(shown: CardsOrRecording): RoleGraph {
  const exchanges = buildSampleExchanges(shown);
  const cards = exchanges.flatMap(({ timings: moments }) => moments.map(({ card }) => card));
  const work = new Map(
    exchanges
      .flatMap(({ roots }) => flattenDelegations(roots))
      .flatMap(({ workSpans: spans }) => spans.map(({ card, start, end }) => [card, end - start] as const)),
  );
  const roles = [...new Set(cards.flatMap(({ sender, recipient }) => [sender, recipient]))];
  return {
    nodes: roles.map((role) => {
      const own = cards.filter(({ sender }) => sender === role);
      return {
        role,
        cards: own.length,
        tokens: sumBy(own, ({ metadata }) => metadata.tokens ?? 0),
        ms: sumBy(own, (card) => work.get(card) ?? 0),
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

/** The graph as a flow chart of Mermaid. */
export function renderRoleGraphMermaid({ nodes, edges }: RoleGraph): string {
  const ids = new Map(nodes.map(({ role }, at) => [role, `r${at + 1}`]));
  return [
    "flowchart LR",
    ...nodes.map(
      (node) => `    ${ids.get(node.role)}["${escaped(node.role)}<br/>${escaped(formatNodeNote(node))}"]`,
    ),
    ...edges.map(
      (edge) => `    ${ids.get(edge.from)} -->|"${escaped(formatEdgeNote(edge))}"| ${ids.get(edge.to)}`,
    ),
    "",
  ].join("\n");
}

/** `2 task · 492 tok · 770 ms each`. */
export function formatEdgeNote({ byType, tokens, ms }: RoleGraphEdge): string {
  return [
    Object.entries(byType)
      .map(([type, count]) => `${count} ${type}`)
      .join(", "),
    ...(tokens > 0 ? [`${tokens} tok`] : []),
    ...(ms === undefined ? [] : [`${Math.round(ms)} ms each`]),
  ].join(" · ");
}

/** `758 tok · 2150 ms`. */
export function formatNodeNote({ tokens, ms }: RoleGraphNode): string {
  return `${tokens} tok · ${Math.round(ms)} ms`;
}
