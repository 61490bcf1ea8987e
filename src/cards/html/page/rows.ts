import { html } from "./dom.ts";

/** How many rows are drawn above and below those that are seen. */
const SPARE = 8;

/**
 * A long list of which only the rows in sight are elements. All rows have the same height; `draw` makes one, `keyOf` says
 * what it shows, so that a row that shows the same again stays as it is.
 */
export class Rows<Item> {
  readonly element: HTMLElement;
  readonly #inner: HTMLElement;
  readonly #height: number;
  readonly #draw: (item: Item, at: number) => HTMLElement;
  readonly #keyOf: (item: Item, at: number) => string;
  readonly #drawn = new Map<string, HTMLElement>();
  #items: readonly Item[] = [];

  constructor(
    element: HTMLElement,
    height: number,
    draw: (item: Item, at: number) => HTMLElement,
    keyOf: (item: Item, at: number) => string,
  ) {
    this.element = element;
    this.#height = height;
    this.#draw = draw;
    this.#keyOf = keyOf;
    this.#inner = html("div", { class: "rows", role: "presentation" });
    element.append(this.#inner);
    element.addEventListener("scroll", () => this.#show(), { passive: true });
    new ResizeObserver(() => this.#show()).observe(element);
  }

  get items(): readonly Item[] {
    return this.#items;
  }

  set items(items: readonly Item[]) {
    this.#items = items;
    this.#inner.style.height = `${items.length * this.#height}px`;
    this.#show();
  }

  /** The element of a row, when it is in sight. */
  drawn(at: number): HTMLElement | undefined {
    const item = this.#items[at];
    return item === undefined ? undefined : this.#drawn.get(this.#keyOf(item, at));
  }

  reveal(at: number): void {
    const top = at * this.#height;
    const { scrollTop, clientHeight } = this.element;
    if (top < scrollTop) this.element.scrollTop = top;
    else if (top + this.#height > scrollTop + clientHeight)
      this.element.scrollTop = top + this.#height - clientHeight;
    this.#show();
  }

  /** How many rows fit, less one: what a page is for the keys. */
  get page(): number {
    return Math.max(1, Math.floor(this.element.clientHeight / this.#height) - 1);
  }

  #show(): void {
    const first = Math.max(0, Math.floor(this.element.scrollTop / this.#height) - SPARE);
    const seen = Math.ceil(this.element.clientHeight / this.#height) + 2 * SPARE;
    const wanted = new Map(
      this.#items.slice(first, first + seen).map((item, index) => {
        const at = first + index;
        return [this.#keyOf(item, at), { item, at }] as const;
      }),
    );
    for (const [key, row] of this.#drawn) {
      if (wanted.has(key)) continue;
      row.remove();
      this.#drawn.delete(key);
    }
    for (const [key, { item, at }] of wanted) {
      if (this.#drawn.has(key)) continue;
      const row = this.#draw(item, at);
      row.style.top = `${at * this.#height}px`;
      row.style.height = `${this.#height}px`;
      this.#drawn.set(key, row);
      this.#inner.append(row);
    }
  }
}
