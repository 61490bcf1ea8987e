import { describe, expect, it } from "vitest";
import { buildTemplateFiles, TEMPLATE_NAMES } from "../../src/cli/init/template-files.ts";
import {
  createTempTestDirectoryWithFiles,
  runCliInTestProcess,
} from "../../src/cli/cli-test-process.fixture.ts";

interface PackageManifest {
  readonly name: string;
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
}

describe("the templates of colloquy init", () => {
  it.each(TEMPLATE_NAMES)("%s is a project with a name, scripts, and this package", (template) => {
    const files = buildTemplateFiles(template, "my-app", "^1.2.3");
    const { name, scripts, dependencies } = JSON.parse(files["package.json"] ?? "{}") as PackageManifest;
    expect({ name, colloquy: dependencies["colloquy"] }).toEqual({ name: "my-app", colloquy: "^1.2.3" });
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining(["dev", "start", "check"]));
    expect(files).toHaveProperty([".gitignore"]);
    expect(files["README.md"]).toMatch(/^# my-app\n/);
    expect(files).toHaveProperty(["agent.ts"]);
    expect(files).toHaveProperty(["tsconfig.json"]);
    for (const [file, text] of Object.entries(files)) {
      expect(file).not.toContain("shared");
      expect(text).not.toMatch(/__[A-Z_]+__/);
    }
  });

  it("gives ADK an agent name that is an identifier", () => {
    expect(buildTemplateFiles("adk", "2-my-app", "x")["agent.ts"]).toContain('name: "_2_my_app"');
  });

  it("creates the files of a template, and refuses unknown templates", async () => {
    const cwd = await createTempTestDirectoryWithFiles({});
    const created = await runCliInTestProcess(["init", "app", "--template", "hono", "--output", "json"], {
      cwd,
    });
    const { files } = JSON.parse(created.out) as { files: string[] };
    expect(files.toSorted()).toEqual(Object.keys(buildTemplateFiles("hono", "app", "x")).toSorted());
    const refused = await runCliInTestProcess(["init", "other", "--template", "rails"], { cwd });
    expect({ code: refused.code, err: refused.err }).toMatchObject({
      code: 2,
      err: expect.stringContaining("hono, workers, next, vite-react, adk") as string,
    });
  });
});
