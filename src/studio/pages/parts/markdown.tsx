import DOMPurify from "dompurify";
import type { VNode } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { escapeControlCharacters } from "../../../cards/index.ts";
import { useCopyText } from "./copy-text.ts";
import { PlainText } from "./plain-text.tsx";
import { MAX_MARKDOWN_LENGTH } from "../worker/markdown-length.ts";
import { convertMarkdownInWorker } from "../worker/run-in-worker.ts";

/** Elements that Markdown produces. */
const ALLOWED_TAGS =
  "p br hr em strong del code pre blockquote a span ul ol li h1 h2 h3 h4 h5 h6 table thead tbody tr th td".split(
    " ",
  );
const SAFE_LINK_PATTERN = /^https?:\/\//i;

/**
 * Creates the elements of Markdown of a stranger. Images become links, because the server of an image would receive the
 * address of the reader. Links open in a new tab without a referrer.
 */
function createSafeFragment(html: string): DocumentFragment {
  const fragment = DOMPurify.sanitize(html, {
    ALLOWED_TAGS: [...ALLOWED_TAGS, "img"],
    ALLOWED_ATTR: ["href", "src", "alt", "title", "start", "class"],
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    RETURN_DOM_FRAGMENT: true,
  });
  // Only the words of highlighted code have classes.
  for (const element of fragment.querySelectorAll("[class]"))
    if (!/^hljs-[a-z_ -]+$/.test(element.className)) element.removeAttribute("class");
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
  for (const code of fragment.querySelectorAll("pre")) {
    const block = document.createElement("div");
    block.className = "code-block";
    code.replaceWith(block);
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Copy";
    button.setAttribute("aria-label", "Copy the code");
    block.append(code, button);
  }
  for (const block of fragment.querySelectorAll<HTMLElement>("p, li, blockquote, th, td")) block.dir = "auto";
  for (const scrollable of fragment.querySelectorAll<HTMLElement>("pre, table")) scrollable.tabIndex = 0;
  return fragment;
}

interface ConvertedText {
  readonly text: string;
  /** HTML of the text, or `undefined` if the text is shown as plain text. */
  readonly html: string | undefined;
}

/** Text of a stranger as Markdown. A worker parses the text, and until then the page shows the text as it is. */
export function Markdown({ text }: { readonly text: string }): VNode {
  const [converted, setConverted] = useState<ConvertedText>();
  useEffect(() => {
    if (text.length > MAX_MARKDOWN_LENGTH) return setConverted(undefined);
    return convertMarkdownInWorker(text, (html) => setConverted({ text, html }));
  }, [text]);
  // A text that grows shows its earlier version until the new version is converted.
  if (converted?.html !== undefined) return <SafeHtml html={converted.html} />;
  if (converted?.text === text || text.length > MAX_MARKDOWN_LENGTH) return <PlainText text={text} />;
  return (
    <div class="markdown" dir="auto" aria-busy="true">
      {escapeControlCharacters(text)}
    </div>
  );
}

function SafeHtml({ html }: { readonly html: string }): VNode {
  const element = useRef<HTMLDivElement>(null);
  const copyText = useCopyText();
  useLayoutEffect(() => {
    const fragment = createSafeFragment(html);
    for (const button of fragment.querySelectorAll("button")) {
      const code = button.previousElementSibling?.textContent ?? "";
      button.addEventListener("click", () => void copyText(code, "the code"));
    }
    element.current?.replaceChildren(fragment);
  }, [html]);
  return <div key="html" ref={element} class="markdown" dir="auto" />;
}
