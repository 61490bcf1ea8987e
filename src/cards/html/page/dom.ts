import { printable } from "../../views/text-width.ts";

type Child = Node | string | number | undefined | false;
type Properties = Readonly<Record<string, string | number | boolean | undefined | ((event: never) => void)>>;

const SVG = "http://www.w3.org/2000/svg";

/**
 * An element with attributes, listeners (`onclick`) and children. Texts become text nodes, never markup: what agents say
 * is shown and does nothing.
 */
export function html<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Properties = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Name] {
  return filled(document.createElement(name), properties, children);
}

export function svg<Name extends keyof SVGElementTagNameMap>(
  name: Name,
  properties: Properties = {},
  ...children: readonly Child[]
): SVGElementTagNameMap[Name] {
  return filled(document.createElementNS(SVG, name), properties, children);
}

function filled<E extends Element>(element: E, properties: Properties, children: readonly Child[]): E {
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value as EventListener);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children)
    if (child !== undefined && child !== false)
      element.append(typeof child === "number" ? String(child) : child);
  return element;
}

/**
 * What an agent said, with its own direction, so that a text from right to left does not turn what is around it, and with
 * control characters made visible.
 */
export function said(text: string, properties: Properties = {}): HTMLElement {
  return html("bdi", properties, printable(text));
}

/** The element of the page with this id; there is always one. */
export function byId(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (!element) throw new Error(`The page has no #${id}.`);
  return element;
}

/** Tells who cannot see it what has changed. */
export function announce(text: string): void {
  byId("says").textContent = text;
}
