import { createSourcePages } from "../source-pages.ts";

export default { paths: createSourcePages };
