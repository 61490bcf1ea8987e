import { createElement } from "./dom.ts";

/** How many rows are drawn above and below those that are seen. */
const OVERSCAN_ROWS = 8;

/**
 * A long list of which only the rows in sight are elements. All rows have the same height; `draw` makes one, `keyOf` says
 * what it shows, so that a row that shows the same again stays as it is.
 */
export class VirtualList<Item> {
  readonly element: HTMLElement;
  readonly #content: HTMLElement;
  readonly #rowHeight: number;
  readonly #renderRow: (item: Item, at: number) => HTMLElement;
  readonly #getRowKey: (item: Item, at: number) => string;
  readonly #renderedRows = new Map<string, HTMLElement>();
  #items: readonly Item[] = [];

  constructor(
    element: HTMLElement,
    height: number,
    draw: (item: Item, at: number) => HTMLElement,
    keyOf: (item: Item, at: number) => string,
  ) {
    this.element = element;
    this.#rowHeight = height;
    this.#renderRow = draw;
    this.#getRowKey = keyOf;
    this.#content = createElement("div", { class: "rows", role: "presentation" });
    element.append(this.#content);
    element.addEventListener("scroll", () => this.#renderVisibleRows(), { passive: true });
    new ResizeObserver(() => this.#renderVisibleRows()).observe(element);
  }

  get items(): readonly Item[] {
    return this.#items;
  }

  set items(items: readonly Item[]) {
    this.#items = items;
    this.#content.style.height = `${items.length * this.#rowHeight}px`;
    this.#renderVisibleRows();
  }

  /** The element of a row, when it is in sight. */
  findRowElement(at: number): HTMLElement | undefined {
    const item = this.#items[at];
    return item === undefined ? undefined : this.#renderedRows.get(this.#getRowKey(item, at));
  }

  scrollToRow(at: number): void {
    const top = at * this.#rowHeight;
    const { scrollTop, clientHeight } = this.element;
    if (top < scrollTop) this.element.scrollTop = top;
    else if (top + this.#rowHeight > scrollTop + clientHeight)
      this.element.scrollTop = top + this.#rowHeight - clientHeight;
    this.#renderVisibleRows();
  }

  /** How many rows fit, less one: what a page is for the keys. */
  get rowsPerPage(): number {
    return Math.max(1, Math.floor(this.element.clientHeight / this.#rowHeight) - 1);
  }

  #renderVisibleRows(): void {
    const first = Math.max(0, Math.floor(this.element.scrollTop / this.#rowHeight) - OVERSCAN_ROWS);
    const seen = Math.ceil(this.element.clientHeight / this.#rowHeight) + 2 * OVERSCAN_ROWS;
    const wanted = new Map(
      this.#items.slice(first, first + seen).map((item, index) => {
        const at = first + index;
        return [this.#getRowKey(item, at), { item, at }] as const;
      }),
    );
    for (const [key, row] of this.#renderedRows) {
      if (wanted.has(key)) continue;
      row.remove();
      this.#renderedRows.delete(key);
    }
    for (const [key, { item, at }] of wanted) {
      if (this.#renderedRows.has(key)) continue;
      const row = this.#renderRow(item, at);
      row.style.top = `${at * this.#rowHeight}px`;
      row.style.height = `${this.#rowHeight}px`;
      this.#renderedRows.set(key, row);
      this.#content.append(row);
    }
  }
}
