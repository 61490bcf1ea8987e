/** Copies the given SQLite file to the given new file, and says when the copy begins. The test kills the process. */
import { backupSqliteFile } from "../../src/stores/index.ts";

const [source = "", target = ""] = process.argv.slice(2);
process.send?.("begin");
await backupSqliteFile(source, target);
process.disconnect?.();
