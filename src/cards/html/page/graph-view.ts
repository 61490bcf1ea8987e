import { computeCardCauses } from "../card-causes.ts";
import { computeDagLayout, DAG_NODE_SIZE } from "../layout/dag-layout.ts";
import { computeRoleGraphLayout, ROLE_BOX_SIZE } from "../layout/role-graph-layout.ts";
import type { RoleEdge } from "../run-statistics.ts";
import { countCardTokens } from "../sample-summary.ts";
import { getCardTypeClass } from "../../views/card-type-class.ts";
import { toSingleLine, truncateLine } from "../../views/text-width.ts";
import { createSvgElement } from "./dom.ts";
import { createCardButtonProperties, type SampleViewProps } from "./sequence-view.ts";
import { formatCount, formatDuration } from "./text-format.ts";

/** Renders the causal graph of the message cards of one problem. */
export function renderCardDag(shown: SampleViewProps): SVGSVGElement {
  const layout = computeDagLayout(shown.cards, computeCardCauses(shown.cards));
  const root = createSvgElement("svg", {
    class: "dag",
    width: layout.width,
    height: layout.height,
    viewBox: `0 0 ${layout.width} ${layout.height}`,
    role: "group",
    "aria-label": "Graph: each card with its causes",
  });
  for (const { from, to } of layout.edges) {
    const [x1, y1] = [from.x + DAG_NODE_SIZE.width / 2, from.y + DAG_NODE_SIZE.height];
    const [x2, y2] = [to.x + DAG_NODE_SIZE.width / 2, to.y];
    const isCritical = shown.criticalCards.has(from.pageCard) && shown.criticalCards.has(to.pageCard);
    root.append(
      createSvgElement("path", {
        class: `cause${isCritical ? " critical" : ""}`,
        d: `M ${x1} ${y1} C ${x1} ${(y1 + y2) / 2}, ${x2} ${(y1 + y2) / 2}, ${x2} ${y2 - 1}`,
      }),
    );
  }
  const place = new Map(shown.cards.map((seen, at) => [seen, at]));
  for (const { pageCard: seen, x, y } of layout.nodes) {
    const { card } = seen;
    const at = place.get(seen) ?? 0;
    const tokens = countCardTokens(card);
    const notes = [
      ...(card.metadata.duration_ms ? [formatDuration(card.metadata.duration_ms)] : []),
      ...(tokens > 0 ? [`${formatCount(tokens)} tok`] : []),
    ].join(" · ");
    const line = (className: string, dy: number, text: string): SVGTextElement =>
      createSvgElement("text", { class: className, x: x + 10, y: y + dy }, truncateLine(text, 29));
    root.append(
      createSvgElement(
        "g",
        createCardButtonProperties(shown, seen, at),
        createSvgElement("rect", {
          class: "node",
          x,
          y,
          width: DAG_NODE_SIZE.width,
          height: DAG_NODE_SIZE.height,
          rx: 8,
        }),
        line("notes", 17, `${at + 1} ${card.message_type} ${card.sender} → ${card.recipient}`),
        line("label", 34, card.content),
        line("after", 50, notes),
      ),
    );
  }
  return root;
}

/** Renders the role graph, which shows the message cards between roles in all problems. */
export function renderRoleGraph(edges: readonly RoleEdge[]): SVGSVGElement {
  const layout = computeRoleGraphLayout(edges);
  const root = createSvgElement("svg", {
    class: "graph",
    width: layout.width,
    height: layout.height,
    viewBox: `0 0 ${layout.width} ${layout.height}`,
    role: "img",
    "aria-label": edges
      .map(({ from, to, cardCount }) => toSingleLine(`${from} to ${to}: ${formatCount(cardCount)} cards`))
      .join("; "),
  });
  for (const { edge, path, x, y, thickness } of layout.edges) {
    const [head] = Object.entries(edge.countByType).toSorted(([, a], [, b]) => b - a);
    const note = [
      edge.averageMs === undefined ? "" : `⌀ ${formatDuration(edge.averageMs)}`,
      edge.tokens > 0 ? `⌀ ${formatCount(Math.round(edge.tokens / edge.cardCount))} tok` : "",
    ]
      .filter(Boolean)
      .join(" · ");
    const d = path.split(" ");
    const [tipX, tipY] = [Number(d.at(-2)), Number(d.at(-1))];
    const down = tipY < layout.height / 2 ? 1 : -1;
    root.append(
      createSvgElement(
        "g",
        { class: `edge ${getCardTypeClass(head?.[0])}` },
        createSvgElement("path", { class: "arrow", d: path, "stroke-width": thickness.toFixed(1) }),
        createSvgElement("path", { class: "head", d: `M ${tipX} ${tipY} l -6 ${-10 * down} h 12 z` }),
        createSvgElement(
          "text",
          { class: "label", x, y: y - down * 4 + (down > 0 ? -14 : 12), "text-anchor": "middle" },
          formatCountsByCardType(edge),
        ),
        createSvgElement(
          "text",
          { class: "notes", x, y: y - down * 4 + (down > 0 ? 0 : 26), "text-anchor": "middle" },
          note,
        ),
      ),
    );
  }
  for (const { name, x, y } of layout.roles)
    root.append(
      createSvgElement("rect", {
        class: "role",
        x: x - ROLE_BOX_SIZE.width / 2,
        y: y - ROLE_BOX_SIZE.height / 2,
        width: ROLE_BOX_SIZE.width,
        height: ROLE_BOX_SIZE.height,
        rx: 10,
      }),
      createSvgElement(
        "text",
        { class: "role-name", x, y: y + 5, "text-anchor": "middle" },
        truncateLine(name, 15),
      ),
    );
  return root;
}

function formatCountsByCardType({ countByType: types }: RoleEdge): string {
  return Object.entries(types)
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, 3)
    .map(([type, cards]) => `${formatCount(cards)} ${truncateLine(type, 12)}`)
    .join(", ");
}
