import { describe, expect, it } from "vitest";
import { parseCodeBlocks, readDocument } from "../code-blocks.ts";

const [worker, configuration, commands] = parseCodeBlocks("docs/deploy/workers.md");

/** Parses the configuration of the template, which has trailing commas. */
function readTemplateConfiguration(): Record<string, unknown> {
  const text = readDocument("templates/workers/wrangler.jsonc").replaceAll(/,(?=\s*[}\]])/g, "");
  return JSON.parse(text) as Record<string, unknown>;
}

// `npm run lab -- templates` compiles, bundles, and runs the template.
describe("the page about Cloudflare Workers", () => {
  it("shows the worker of the template", () => {
    expect(worker?.code).toBe(readDocument("templates/workers/worker.ts"));
  });

  it("shows the configuration of the template", () => {
    const shown = JSON.parse(configuration?.code ?? "{}") as Record<string, unknown>;
    const template = readTemplateConfiguration();
    expect(Object.keys(shown)).toEqual(expect.arrayContaining(["main", "compatibility_flags", "migrations"]));
    expect({ ...template, ...shown, name: template["name"] }).toEqual(template);
  });

  it("shows commands that the template has", () => {
    const { scripts } = JSON.parse(readDocument("templates/workers/package.json")) as {
      scripts: Record<string, string>;
    };
    expect(commands?.code).toContain("npm start");
    expect(scripts).toMatchObject({ start: "wrangler dev", deploy: "wrangler deploy" });
    expect(commands?.code).toContain(`npx ${scripts["deploy"]}`);
  });
});
