/** The format of CHANGELOG.md: one list item for each changeset, with the text of its author and nothing else. */
module.exports = {
  getReleaseLine: async ({ summary }) => {
    const [first, ...others] = summary.trim().split("\n");
    return [`- ${first}`, ...others.map((line) => (line === "" ? "" : `  ${line}`))].join("\n");
  },
  getDependencyReleaseLine: async () => "",
};
