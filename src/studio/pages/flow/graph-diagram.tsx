import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { toSingleLine } from "../../../cards/index.ts";
import { truncateLabel } from "./truncate-label.ts";
import { computeGraphLayoutInWorker } from "../worker/run-in-worker.ts";
import type { GraphEdge, GraphLayout, GraphNode } from "./graph-layout.ts";
import { buildSelectionButtonProps } from "./selection-button-props.ts";
import { useElementWidth } from "./use-element-width.ts";

/** The layout of more nodes or edges takes too long. */
const MAX_NODES = 300;
const MAX_EDGES = 1_000;
const CHARACTER_WIDTH_PX = 7.2;
/** Factors between two steps of the zoom, and its limits. */
const ZOOM_STEP = 1.25;
const [MIN_ZOOM, MAX_ZOOM] = [0.2, 3];

interface GraphDiagramProps {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  readonly nodeWidth: number;
  readonly nodeHeight: number;
  /** Direction in which edges point. */
  readonly direction: "down" | "right";
  readonly selectedKey: string | undefined;
  readonly onSelect: (key: string) => void;
  /** CSS class of the drawing. */
  readonly className: string;
  /** Name of the diagram for screen readers. */
  readonly label: string;
}

/** Directed graph in which each node is a button. Draws at most 300 nodes. */
export function GraphDiagram(props: GraphDiagramProps): JSX.Element {
  const { nodes, edges, nodeWidth, nodeHeight, direction, selectedKey, onSelect, className, label } = props;
  const [layout, setLayout] = useState<GraphLayout | "none">();
  /** The zoom that the user has chosen. By default, the graph fits into the screen. */
  const [chosenZoom, setChosenZoom] = useState<number>();
  const frame = useRef<HTMLDivElement>(null);
  const frameWidth = useElementWidth(frame);
  useEffect(() => {
    const shown = nodes.slice(0, MAX_NODES);
    const keys = new Set(shown.map(({ key }) => key));
    const shownEdges = edges.filter(({ from, to }) => keys.has(from) && keys.has(to));
    if (shownEdges.length > MAX_EDGES) return setLayout("none");
    return computeGraphLayoutInWorker([shown, shownEdges, { nodeWidth, nodeHeight, direction }], (computed) =>
      setLayout(computed ?? "none"),
    );
  }, [nodes, edges, nodeWidth, nodeHeight, direction]);
  if (layout === "none") return <p class="hint">The graph has too many edges. The sequence shows all.</p>;
  if (layout === undefined) return <div ref={frame} class="scroll" aria-busy="true" />;
  const zoom = chosenZoom ?? Math.min(1, Math.max(MIN_ZOOM, frameWidth > 0 ? frameWidth / layout.width : 1));
  const setZoom = (next: number): void => setChosenZoom(Math.min(MAX_ZOOM, Math.max(MIN_ZOOM, next)));
  const focusKey = nodes.some(({ key }) => key === selectedKey) ? selectedKey : nodes[0]?.key;
  const columns = Math.floor((nodeWidth - 20) / CHARACTER_WIDTH_PX);
  return (
    <div ref={frame} class="scroll">
      <p class="graph-zoom">
        <button type="button" class="quiet" aria-label="Zoom out" onClick={() => setZoom(zoom / ZOOM_STEP)}>
          −
        </button>
        <button type="button" class="quiet" aria-label="Zoom in" onClick={() => setZoom(zoom * ZOOM_STEP)}>
          +
        </button>
        <button type="button" class="quiet" onClick={() => setChosenZoom(undefined)}>
          Fit
        </button>
        <span class="soft">{Math.round(zoom * 100)} %</span>
      </p>
      {nodes.length > MAX_NODES && (
        <p class="hint">
          The graph shows the first {MAX_NODES} of {nodes.length} nodes. The sequence shows all.
        </p>
      )}
      <svg
        class={className}
        width={layout.width * zoom}
        height={layout.height * zoom}
        viewBox={`0 0 ${layout.width} ${layout.height}`}
        role="group"
        aria-label={label}
      >
        {layout.edges.map(({ edge, path, head, labelX, labelY }) => (
          <g key={edge.key} class={`edge ${edge.colorClass}${edge.isCritical === true ? " critical" : ""}`}>
            <path class="arrow" d={path} stroke-width={edge.thickness} />
            <path class="head" d={head} />
            {edge.label !== undefined && (
              <text class="label" x={labelX} y={labelY - 6} text-anchor="middle">
                {toSingleLine(edge.label)}
              </text>
            )}
            {edge.notes !== undefined && (
              <text class="notes" x={labelX} y={labelY + 16} text-anchor="middle">
                {toSingleLine(edge.notes)}
              </text>
            )}
          </g>
        ))}
        {layout.nodes.map(({ node, x, y }) => (
          <g
            key={node.key}
            class={`message ${node.colorClass}${node.isCritical === true ? " critical" : ""}${node.key === selectedKey ? " chosen" : ""}`}
            {...buildSelectionButtonProps(node.key, node.description, node.key === selectedKey, onSelect)}
            tabindex={node.key === focusKey ? 0 : -1}
          >
            <rect class="node" x={x} y={y} width={nodeWidth} height={nodeHeight} rx={8} />
            <text class="node-title" x={x + 10} y={y + (node.lines.length === 0 ? nodeHeight / 2 + 4 : 18)}>
              {truncateLabel(node.title, columns)}
            </text>
            {node.lines.map((line, index) => (
              <text key={index} class={index === 0 ? "label" : "after"} x={x + 10} y={y + 35 + index * 16}>
                {truncateLabel(line, columns)}
              </text>
            ))}
          </g>
        ))}
      </svg>
    </div>
  );
}
