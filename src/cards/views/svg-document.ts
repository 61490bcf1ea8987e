import { measureColumns, truncateLine } from "./text-width.ts";

/**
 * Estimated width of a character column at a font size of 12 px, in pixels. The estimated width is slightly
 * too large, because fonts differ.
 */
const CHARACTER_WIDTH_PX = 6.8;

/** Estimates the width of a text in pixels. */
export function measurePixels(text: string): number {
  return Math.ceil(measureColumns(text) * CHARACTER_WIDTH_PX);
}

/** Returns a single-line text that is truncated to the given width in pixels and escaped for SVG. */
export function renderSvgText(text: string, pixels: number = Number.POSITIVE_INFINITY): string {
  return escapeXml(truncateLine(text, Math.floor(pixels / CHARACTER_WIDTH_PX)));
}

/** Escapes characters that start markup, and replaces characters that XML forbids even as entities. */
function escapeXml(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\ufffe\uffff]/g, "\ufffd")
    .replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/**
 * CSS rules of all drawings, with colors for light and dark mode. Card types differ in color and in dash
 * pattern.
 */
export const SVG_STYLE = `.colloquy-cards{--ground:#fff;--ink:#1f2328;--dim:#59636e;--line:#d1d9e0;--task:#0550ae;--result:#116329;--query:#7d4e00;--control:#6639ba;--error:#cf222e;--other:#59636e;font:12px ui-sans-serif,system-ui,"Segoe UI",Roboto,"Noto Sans","Noto Sans CJK KR",sans-serif}
@media(prefers-color-scheme:dark){.colloquy-cards{--ground:#0d1117;--ink:#e6edf3;--dim:#9198a1;--line:#3d444d;--task:#79c0ff;--result:#7ee787;--query:#e3b341;--control:#d2a8ff;--error:#ff7b72;--other:#9198a1}}
.colloquy-cards text{fill:var(--ink);stroke:var(--ground);stroke-width:3px;paint-order:stroke;stroke-linejoin:round}
.colloquy-cards .ground{fill:var(--ground)}.colloquy-cards .dim,.colloquy-cards .dim text{fill:var(--dim)}.colloquy-cards .role{font-weight:600}
.colloquy-cards .box{fill:var(--ground);stroke:var(--line)}.colloquy-cards .life{stroke:var(--line);stroke-dasharray:2 4}.colloquy-cards .busy{fill:var(--line)}
.colloquy-cards .type{fill:var(--of)}.colloquy-cards .arrow{fill:none;stroke:var(--of);stroke-width:1.5}.colloquy-cards .head{fill:var(--of)}
.colloquy-cards .task{--of:var(--task)}.colloquy-cards .result{--of:var(--result)}.colloquy-cards .query{--of:var(--query)}.colloquy-cards .control{--of:var(--control)}.colloquy-cards .error{--of:var(--error)}.colloquy-cards .other{--of:var(--other)}
.colloquy-cards .result .arrow,.colloquy-cards .error .arrow{stroke-dasharray:5 4}.colloquy-cards .query .arrow{stroke-dasharray:1 3}`;

/**
 * Renders a complete SVG document with a title and a description for screen readers.
 * The SVG document contains no scripts, links, or fonts.
 */
export function renderSvgDocument(options: {
  readonly width: number;
  readonly height: number;
  readonly title: string;
  readonly description: readonly string[];
  readonly body: readonly string[];
}): string {
  const { width, height, title, description, body } = options;
  const name = renderSvgText(title);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" class="colloquy-cards" role="img" aria-label="${name}" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    `<title>${name}</title>`,
    `<desc>${description.map((line) => renderSvgText(line)).join("\n")}</desc>`,
    `<style>${SVG_STYLE}</style>`,
    `<rect class="ground" width="${width}" height="${height}"/>`,
    ...body,
    "</svg>",
    "",
  ].join("\n");
}
