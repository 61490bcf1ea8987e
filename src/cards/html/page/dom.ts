import { escapeControlCharacters } from "../../views/text-width.ts";

type ElementChild = Node | string | number | undefined | false;
type ElementProperties = Readonly<
  Record<string, string | number | boolean | undefined | ((event: never) => void)>
>;

const SVG_NAMESPACE = "http://www.w3.org/2000/svg";

/**
 * Creates an HTML element with attributes, event listeners such as `onclick`, and children.
 * Strings become text nodes, so browsers never interpret text from agents as markup.
 */
export function createElement<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: ElementProperties = {},
  ...children: readonly ElementChild[]
): HTMLElementTagNameMap[Name] {
  return initializeElement(document.createElement(name), properties, children);
}

/** Creates an SVG element. See `createElement`. */
export function createSvgElement<Name extends keyof SVGElementTagNameMap>(
  name: Name,
  properties: ElementProperties = {},
  ...children: readonly ElementChild[]
): SVGElementTagNameMap[Name] {
  return initializeElement(document.createElementNS(SVG_NAMESPACE, name), properties, children);
}

function initializeElement<E extends Element>(
  element: E,
  properties: ElementProperties,
  children: readonly ElementChild[],
): E {
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
 * Creates an element for text from an agent, with an isolated text direction and visible control characters.
 */
export function createIsolatedText(text: string, properties: ElementProperties = {}): HTMLElement {
  return createElement("bdi", properties, escapeControlCharacters(text));
}

/** Returns the element with the given ID. Throws if the page has no element with the given ID. */
export function requireElementById(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (!element) throw new Error(`The page has no #${id}.`);
  return element;
}

export function announceToScreenReader(text: string): void {
  requireElementById("says").textContent = text;
}
