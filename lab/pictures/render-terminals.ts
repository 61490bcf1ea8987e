/** The place of a terminal in the picture, in characters, and its size. */
export interface Pane {
  readonly title: string;
  readonly columns: number;
  readonly rows: number;
  readonly column: number;
  readonly row: number;
}

/** A terminal with its output. */
export interface TerminalRecording {
  readonly pane: Pane;
  readonly chunks: readonly { readonly atMs: number; readonly text: string }[];
}

/** Text that appears in one line at one time. */
interface TextRun {
  readonly row: number;
  readonly column: number;
  readonly atMs: number;
  readonly text: string;
}

const CHARACTER_WIDTH = 8.4;
const LINE_HEIGHT = 20;
const MARGIN = 14;
/** Time for which the complete recording stays before it starts again. */
const HOLD_MS = 6000;
const COLORS: readonly [pattern: RegExp, color: string][] = [
  [/Killed|kill -9/, "#ff7b72"],
  [/^(?:- |A day)/, "#7ee787"],
  [/^model call/, "#8b949e"],
];

/**
 * Renders terminals as an SVG that plays without scripts. Without animations, and for readers who prefer reduced motion,
 * the picture shows the end of the recording.
 */
export function renderTerminals(recordings: readonly TerminalRecording[], description: string): string {
  const runs = recordings.map(({ chunks, pane }) => layOut(chunks, pane));
  const endMs = Math.max(...runs.flat().map(({ atMs }) => atMs)) + HOLD_MS;
  const times = [...new Set(runs.flat().map(({ atMs }) => atMs))].toSorted((a, b) => a - b);
  const keyframes = times.map((atMs, at) => {
    const percent = ((atMs / endMs) * 100).toFixed(2);
    return `@keyframes t${at}{0%{opacity:0}${percent}%{opacity:1}}.t${at}{animation-name:t${at}}`;
  });
  const width = Math.max(...recordings.map(({ pane }) => right(pane))) + MARGIN;
  const height = Math.max(...recordings.map(({ pane }) => bottom(pane))) + MARGIN;
  const panes = recordings.map(({ pane }, at) => {
    const x = left(pane);
    const y = top(pane);
    const texts = (runs[at] ?? []).map(({ row, column, atMs, text }) => {
      const color = COLORS.find(([pattern]) => pattern.test(text))?.[1];
      const fill = color === undefined ? "" : ` fill="${color}"`;
      const textX = (x + 10 + column * CHARACTER_WIDTH).toFixed(1);
      return `<text class="t${times.indexOf(atMs)}" x="${textX}" y="${y + 24 + 18 + row * LINE_HEIGHT}"${fill}>${escapeXml(text)}</text>`;
    });
    return [
      `<rect x="${x}" y="${y}" width="${right(pane) - x}" height="${bottom(pane) - y}" rx="6" fill="#0d1117" stroke="#30363d"/>`,
      `<text class="title" x="${x + 10}" y="${y + 17}">${escapeXml(pane.title)}</text>`,
      ...texts,
    ].join("\n");
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>${escapeXml(description)}</title>
<style>
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#e6edf3;white-space:pre}
text[fill="#ff7b72"]{fill:#ff7b72}text[fill="#7ee787"]{fill:#7ee787}text[fill="#8b949e"]{fill:#8b949e}
.title{font-size:12px;fill:#8b949e}
@media (prefers-reduced-motion:no-preference){
text:not(.title){animation-duration:${(endMs / 1000).toFixed(2)}s;animation-timing-function:step-end;animation-iteration-count:infinite}
${keyframes.join("\n")}
}
</style>
<rect width="${width}" height="${height}" rx="10" fill="#161b22"/>
${panes.join("\n")}
</svg>
`;
}

const left = ({ column }: Pane): number => Math.round(MARGIN + column * CHARACTER_WIDTH);
const right = (pane: Pane): number => left(pane) + Math.round(20 + pane.columns * CHARACTER_WIDTH);
const top = ({ row }: Pane): number => MARGIN + row * LINE_HEIGHT;
const bottom = (pane: Pane): number => top(pane) + 34 + pane.rows * LINE_HEIGHT;

/** Returns the text runs of a terminal. Fails if the output moves the cursor, or has more rows than the pane. */
function layOut(chunks: TerminalRecording["chunks"], { columns, rows }: Pane): TextRun[] {
  const runs: TextRun[] = [];
  let row = 0;
  let column = 0;
  for (const { atMs, text } of chunks) {
    for (const [piece] of text.matchAll(/\r?\n|\r|[^\r\n]+/g)) {
      if (piece === "\r") column = 0;
      else if (piece.endsWith("\n")) {
        row++;
        column = 0;
      } else {
        if (column + piece.length > columns || row >= rows)
          throw new Error(`"${piece}" does not fit into the pane.`);
        runs.push({ row, column, atMs: Math.max(0, Math.round(atMs)), text: piece });
        column += piece.length;
      }
    }
  }
  return runs;
}

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
