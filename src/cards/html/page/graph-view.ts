import { causesOf } from "../causes.ts";
import { dagLayout, NODE } from "../layout/dag.ts";
import { graphLayout, ROLE } from "../layout/graph.ts";
import type { Edge } from "../overview.ts";
import { tokensOf } from "../summary.ts";
import { fit, oneLine } from "../../views/text-width.ts";
import { svg } from "./dom.ts";
import { cardButton, kindOf, type Shown } from "./sequence-view.ts";
import { count, duration } from "./words.ts";

/** Each card of a problem, and what it came of. */
export function dagView(shown: Shown): SVGSVGElement {
  const layout = dagLayout(shown.cards, causesOf(shown.cards));
  const root = svg("svg", {
    class: "dag",
    width: layout.width,
    height: layout.height,
    viewBox: `0 0 ${layout.width} ${layout.height}`,
    role: "group",
    "aria-label": "Graph: each card, and the cards that it came of",
  });
  for (const { from, to } of layout.edges) {
    const [x1, y1] = [from.x + NODE.width / 2, from.y + NODE.height];
    const [x2, y2] = [to.x + NODE.width / 2, to.y];
    const isCritical = shown.critical.has(from.seen) && shown.critical.has(to.seen);
    root.append(
      svg("path", {
        class: `cause${isCritical ? " critical" : ""}`,
        d: `M ${x1} ${y1} C ${x1} ${(y1 + y2) / 2}, ${x2} ${(y1 + y2) / 2}, ${x2} ${y2 - 1}`,
      }),
    );
  }
  const place = new Map(shown.cards.map((seen, at) => [seen, at]));
  for (const { seen, x, y } of layout.nodes) {
    const { card } = seen;
    const at = place.get(seen) ?? 0;
    const tokens = tokensOf(card);
    const notes = [
      ...(card.metadata.duration_ms ? [duration(card.metadata.duration_ms)] : []),
      ...(tokens > 0 ? [`${count(tokens)} tok`] : []),
    ].join(" · ");
    const line = (className: string, dy: number, text: string): SVGTextElement =>
      svg("text", { class: className, x: x + 10, y: y + dy }, fit(oneLine(text), 29).trim());
    root.append(
      svg(
        "g",
        {
          ...cardButton(shown, seen, at),
          class: `card ${kindOf(card)}${shown.critical.has(seen) ? " critical" : ""}${shown.chosen === seen ? " chosen" : ""}`,
        },
        svg("rect", { class: "node", x, y, width: NODE.width, height: NODE.height, rx: 8 }),
        line("notes", 17, `${at + 1} ${card.message_type} ${card.sender} → ${card.recipient}`),
        line("label", 34, card.content),
        line("after", 50, notes),
      ),
    );
  }
  return root;
}

/** How much went between whom, of all problems together. */
export function aggregateView(edges: readonly Edge[]): SVGSVGElement {
  const layout = graphLayout(edges);
  const root = svg("svg", {
    class: "graph",
    width: layout.width,
    height: layout.height,
    viewBox: `0 0 ${layout.width} ${layout.height}`,
    role: "img",
    "aria-label": edges
      .map(({ from, to, cards }) => oneLine(`${from} to ${to}: ${count(cards)} cards`))
      .join("; "),
  });
  for (const { edge, path, x, y, thickness } of layout.edges) {
    const [head] = Object.entries(edge.types).toSorted(([, a], [, b]) => b - a);
    const words = [
      edge.averageMs === undefined ? "" : `⌀ ${duration(edge.averageMs)}`,
      edge.tokens > 0 ? `⌀ ${count(Math.round(edge.tokens / edge.cards))} tok` : "",
    ]
      .filter(Boolean)
      .join(" · ");
    const kind =
      ["task", "result", "query", "control", "error"].find((type) => type === head?.[0]) ?? "other";
    const d = path.split(" ");
    const [tipX, tipY] = [Number(d.at(-2)), Number(d.at(-1))];
    const down = tipY < layout.height / 2 ? 1 : -1;
    root.append(
      svg(
        "g",
        { class: `edge ${kind}` },
        svg("path", { class: "arrow", d: path, "stroke-width": thickness.toFixed(1) }),
        svg("path", { class: "head", d: `M ${tipX} ${tipY} l -6 ${-10 * down} h 12 z` }),
        svg(
          "text",
          { class: "label", x, y: y - down * 4 + (down > 0 ? -14 : 12), "text-anchor": "middle" },
          some(edge),
        ),
        svg(
          "text",
          { class: "notes", x, y: y - down * 4 + (down > 0 ? 0 : 26), "text-anchor": "middle" },
          words,
        ),
      ),
    );
  }
  for (const { name, x, y } of layout.roles)
    root.append(
      svg("rect", {
        class: "role",
        x: x - ROLE.width / 2,
        y: y - ROLE.height / 2,
        width: ROLE.width,
        height: ROLE.height,
        rx: 10,
      }),
      svg(
        "text",
        { class: "role-name", x, y: y + 5, "text-anchor": "middle" },
        fit(oneLine(name), 15).trim(),
      ),
    );
  return root;
}

function some({ types }: Edge): string {
  return Object.entries(types)
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, 3)
    .map(([type, cards]) => `${count(cards)} ${fit(oneLine(type), 12).trim()}`)
    .join(", ");
}
