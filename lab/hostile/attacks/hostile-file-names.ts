import { collectArtifactFiles } from "../../../src/cli/download/collect-artifact-files.ts";
import { defineBoundaryAttack, type BoundaryAttack } from "../attack.ts";

const HOSTILE_NAMES = [
  "../../etc/passwd",
  "..\\..\\boot.ini",
  "/etc/shadow",
  ".bashrc",
  "-rf",
  "~root",
  "NUL",
  "con.txt",
  "a\u001b[2Jb",
  "photo\u202egpj.exe",
  "name. . .",
  "😀".repeat(300),
];

export const attack: BoundaryAttack = defineBoundaryAttack({
  title: "an agent chooses the names of downloaded files",
  run: async () => {
    const parts = HOSTILE_NAMES.map((filename) => ({ raw: "eA==", filename }));
    const { files } = collectArtifactFiles({ artifacts: [{ artifactId: "a", parts }] });
    const problems = files.flatMap(({ name }) =>
      isUnsafeFileName(name) ? `a file has the name ${JSON.stringify(name)}` : [],
    );
    return Promise.resolve({ problems });
  },
});

function isUnsafeFileName(name: string): boolean {
  return (
    // oxlint-disable-next-line no-control-regex -- control characters are what must not be there
    /^[-.~]|[\\/\u0000-\u001f\u202e]|[.\s]$|^(?:con|nul)(?:\.|$)/i.test(name) || Buffer.byteLength(name) > 255
  );
}
