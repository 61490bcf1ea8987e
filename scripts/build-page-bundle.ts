/**
 * `npm run page` generates `src/cards/html/page-bundle.ts` from `src/cards/html/page/`. The bundle holds the
 * page's script and style as strings, because `renderHtmlReport` reads no files. A test fails when the bundle
 * is out of date.
 */
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const htmlFolder = new URL("../src/cards/html/", import.meta.url);

/** Returns the current content for `page-bundle.ts`. */
export async function buildPageBundle(): Promise<string> {
  const script = await bundleScript(fileURLToPath(new URL("page/main.ts", htmlFolder)));
  const style = minifyStyle(readFileSync(new URL("page/page.css", htmlFolder), "utf8"));
  return `/** Made by \`npm run page\` from \`page/\`; what is written here is lost. */
export const PAGE_SCRIPT: string = ${JSON.stringify(script)};
export const PAGE_SCRIPT_SHA256: string = ${JSON.stringify(computeSha256(script))};
export const PAGE_STYLE: string = ${JSON.stringify(style)};
export const PAGE_STYLE_SHA256: string = ${JSON.stringify(computeSha256(style))};
`;
}

async function bundleScript(input: string): Promise<string> {
  await using build = await rolldown({ input, treeshake: { moduleSideEffects: false }, tsconfig: false });
  const { output } = await build.generate({ format: "iife", minify: true, comments: false });
  const [chunk, ...others] = output;
  if (others.length > 0) throw new Error("The page must be a single script. Remove its dynamic imports.");
  const code = chunk.code.trim();
  // Inside a `<script>` element, such text would end the script or start a comment.
  if (/<\/script|<!--|<script/i.test(code))
    throw new Error(
      "The page's script contains HTML tags that would end it. Build these strings differently.",
    );
  return code;
}

/** Removes comments and indentation. */
function minifyStyle(css: string): string {
  return css
    .replaceAll(/\/\*[^]*?\*\//g, "")
    .replaceAll(/\s*\n\s*/g, "\n")
    .trim();
}

function computeSha256(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}

if (import.meta.main) writeFileSync(new URL("page-bundle.ts", htmlFolder), await buildPageBundle());
