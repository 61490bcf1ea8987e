import { Graph, layout } from "@dagrejs/dagre";
import { measureLabel } from "./truncate-label.ts";

/** A node of a graph, with one to three lines of text. */
export interface GraphNode {
  /** Unique key of the node. */
  readonly key: string;
  readonly title: string;
  readonly lines: readonly string[];
  /** CSS class that selects the color of the node. */
  readonly colorClass: string;
  /** Description for screen readers. */
  readonly description: string;
  readonly isCritical?: boolean;
}

/** An edge of a graph, with up to two lines of text. */
export interface GraphEdge {
  /** Unique key of the edge. */
  readonly key: string;
  readonly from: string;
  readonly to: string;
  readonly label?: string;
  readonly notes?: string;
  readonly colorClass: string;
  /** Stroke width in pixels. Default: the style sheet. */
  readonly thickness?: number;
  readonly isCritical?: boolean;
}

/** Positions of the nodes and edges in pixels. */
export interface GraphLayout {
  readonly width: number;
  readonly height: number;
  /** `x` and `y` are the top left corner of the node. */
  readonly nodes: readonly { readonly node: GraphNode; readonly x: number; readonly y: number }[];
  readonly edges: readonly GraphEdgeLayout[];
}

interface GraphEdgeLayout {
  readonly edge: GraphEdge;
  /** SVG path of the line. */
  readonly path: string;
  /** SVG path of the arrow head. */
  readonly head: string;
  /** Center of the label in pixels. */
  readonly labelX: number;
  readonly labelY: number;
}

interface GraphLayoutOptions {
  readonly nodeWidth: number;
  readonly nodeHeight: number;
  /** Direction in which edges point. */
  readonly direction: "down" | "right";
}

interface Point {
  readonly x: number;
  readonly y: number;
}

const LABEL_HEIGHT_PX = 44;
const LABEL_CHARACTER_WIDTH_PX = 6.8;

/** Computes a layered layout of a graph, in which most edges point in one direction. */
export function computeGraphLayout(
  nodes: readonly GraphNode[],
  edges: readonly GraphEdge[],
  { nodeWidth, nodeHeight, direction }: GraphLayoutOptions,
): GraphLayout {
  if (nodes.length === 0) return { width: 0, height: 0, nodes: [], edges: [] };
  const graph = new Graph({ multigraph: true });
  graph.setGraph({
    rankdir: direction === "down" ? "TB" : "LR",
    nodesep: 26,
    ranksep: direction === "down" ? 30 : 50,
    marginx: 20,
    marginy: 20,
  });
  // Dagre keeps names in plain objects, in which `constructor` has a value. Keys contain names that agents choose.
  const nodeNames = new Map(nodes.map(({ key }, index) => [key, `node ${index}`]));
  const nameNode = (key: string): string => nodeNames.get(key) ?? `unknown ${key}`;
  for (const name of nodeNames.values()) graph.setNode(name, { width: nodeWidth, height: nodeHeight });
  for (const [index, { from, to, label, notes }] of edges.entries()) {
    const columns = Math.max(measureLabel(label ?? ""), measureLabel(notes ?? ""));
    const size = columns === 0 ? 0 : columns * LABEL_CHARACTER_WIDTH_PX + 12;
    const labelSize = { width: size, height: size === 0 ? 0 : LABEL_HEIGHT_PX, labelpos: "c" as const };
    graph.setEdge(nameNode(from), nameNode(to), labelSize, `edge ${index}`);
  }
  layout(graph);
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  return {
    width,
    height,
    nodes: nodes.map((node) => {
      const { x, y } = graph.node(nameNode(node.key)) as Point;
      return { node, x: x - nodeWidth / 2, y: y - nodeHeight / 2 };
    }),
    edges: edges.map((edge, index) => {
      const { points } = graph.edge(nameNode(edge.from), nameNode(edge.to), `edge ${index}`) as {
        readonly points: readonly Point[];
      };
      const middle = computeCurveMiddle(points);
      return {
        edge,
        path: formatCurve(points),
        head: formatArrowHead(points),
        labelX: middle.x,
        labelY: middle.y,
      };
    }),
  };
}

/** Returns the point in the middle of the curve of `formatCurve`. */
function computeCurveMiddle(points: readonly Point[]): Point {
  const at = Math.floor(points.length / 2);
  const control = points[at] ?? { x: 0, y: 0 };
  const middleOf = (a: Point, b: Point): Point => ({ x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 });
  const [before, after] = [points[at - 1] ?? control, points[at + 1] ?? control];
  const from = at <= 1 ? before : middleOf(before, control);
  const to = at >= points.length - 2 ? after : middleOf(control, after);
  return { x: (from.x + 2 * control.x + to.x) / 4, y: (from.y + 2 * control.y + to.y) / 4 };
}

/** Formats points as a smooth SVG path. The inner points are control points of quadratic curves. */
function formatCurve(points: readonly Point[]): string {
  const [first, ...rest] = points;
  const last = rest.pop();
  if (!first || !last) return "";
  const curves = rest.map((point, index) => {
    const next = rest[index + 1] ?? last;
    const [x, y] =
      index === rest.length - 1 ? [last.x, last.y] : [(point.x + next.x) / 2, (point.y + next.y) / 2];
    return `Q ${round(point.x)} ${round(point.y)}, ${round(x)} ${round(y)}`;
  });
  const end = rest.length === 0 ? ` L ${round(last.x)} ${round(last.y)}` : "";
  return `M ${round(first.x)} ${round(first.y)} ${curves.join(" ")}${end}`;
}

function formatArrowHead(points: readonly Point[]): string {
  const [before, tip] = points.slice(-2);
  if (!before || !tip) return "";
  const length = Math.hypot(tip.x - before.x, tip.y - before.y) || 1;
  const [dx, dy] = [(tip.x - before.x) / length, (tip.y - before.y) / length];
  const corner = (side: number): string =>
    `${round(tip.x - 9 * dx - side * 4.5 * dy)} ${round(tip.y - 9 * dy + side * 4.5 * dx)}`;
  return `M ${round(tip.x)} ${round(tip.y)} L ${corner(1)} L ${corner(-1)} z`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
