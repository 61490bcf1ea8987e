import DOMPurify from "dompurify";
import { Marked } from "marked";
import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { escapeControlCharacters } from "../../cards/index.ts";

/** Longer text is shown as plain text, because the parser would block the page. */
export const MAX_MARKDOWN_LENGTH = 200_000;

const marked = new Marked({ gfm: true, breaks: true });
// HTML within Markdown is shown as text. DOMPurify is the second line of defense.
marked.use({ renderer: { html: ({ text }) => escapeHtml(text) } });

/** Elements that Markdown produces. */
const ALLOWED_TAGS =
  "p br hr em strong del code pre blockquote a span ul ol li h1 h2 h3 h4 h5 h6 table thead tbody tr th td".split(
    " ",
  );
const SAFE_LINK_PATTERN = /^https?:\/\//i;

/**
 * Renders Markdown of a stranger. Images become links, because the server of an image would receive the address of the reader.
 * Links open in a new tab without a referrer.
 */
export function renderMarkdown(text: string): DocumentFragment {
  const html = marked.parse(escapeControlCharacters(text), { async: false });
  const fragment = DOMPurify.sanitize(html, {
    ALLOWED_TAGS: [...ALLOWED_TAGS, "img"],
    ALLOWED_ATTR: ["href", "src", "alt", "title", "start"],
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    RETURN_DOM_FRAGMENT: true,
  });
  for (const image of fragment.querySelectorAll("img")) {
    const link = document.createElement("a");
    link.href = image.getAttribute("src") ?? "";
    link.textContent = `image: ${image.getAttribute("alt") || image.getAttribute("src") || ""}`;
    image.replaceWith(link);
  }
  for (const link of fragment.querySelectorAll("a")) {
    const target = link.getAttribute("href") ?? "";
    if (!SAFE_LINK_PATTERN.test(target)) link.removeAttribute("href");
    else {
      link.target = "_blank";
      link.rel = "noopener noreferrer nofollow";
      link.title = target;
    }
  }
  // Headings of a message must not mix with the headings of the page.
  for (const heading of fragment.querySelectorAll("h1, h2, h3, h4, h5, h6")) {
    const paragraph = document.createElement("p");
    paragraph.className = `heading ${heading.tagName.toLowerCase()}`;
    paragraph.append(...heading.childNodes);
    heading.replaceWith(paragraph);
  }
  for (const scrollable of fragment.querySelectorAll<HTMLElement>("pre, table")) scrollable.tabIndex = 0;
  return fragment;
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** Text of a stranger as Markdown. */
export function Markdown({ text }: { readonly text: string }): VNode {
  const element = useRef<HTMLDivElement>(null);
  const isTooLong = text.length > MAX_MARKDOWN_LENGTH;
  useEffect(() => {
    if (!isTooLong) element.current?.replaceChildren(renderMarkdown(text));
  }, [text, isTooLong]);
  if (isTooLong)
    return (
      <pre class="plain-text" tabIndex={0}>
        {escapeControlCharacters(text)}
      </pre>
    );
  return <div ref={element} class="markdown" dir="auto" />;
}
