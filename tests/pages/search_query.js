// Rewrite what a reader types before the search of the theme reads it. tests/pages/search_index.py
// puts this text in front of the worker of the theme, in the same file.
//
// - A name such as Query.plot, plot(), --partition-by or bound-too-large also becomes one word, like
//   the names in the index. Then its section comes first.
// - Other punctuation becomes a space. The theme would read some of it as an operator, and find
//   nothing for --arg or a:b. Quotes stay only around the whole text.
{
  const INDEX = 0; // types of messages
  const QUERY = 2;
  const RESULT = 3;
  let names = []; // all names in the index

  const beginsName = (word) => names.some((name) => name.startsWith(word));

  // A name as one word: "_query_plot" for Query.plot("x"), "_plot__" for plot(), "" for other words.
  const joinName = (word) => {
    const [name] = word.split("(");
    const call = word.includes("(") && !name.includes(".") ? "()" : "";
    const text = name.replace(/^[^\w-]+|\W+$/g, "") + call;
    const joined = "_" + text.replace(/\W/g, "_").toLowerCase();
    return /\w\W|\W\w/.test(text) && beginsName(joined) ? joined : "";
  };

  const rewrite = (query) => {
    const joined = query.split(/[\s=]+/)
      .map(joinName)
      .filter(Boolean)
      .map((name) => names.includes(name) ? `${name}^1` : name); // with a number, not as a prefix
    const words = query.replace(/[^\p{L}\p{N}_.]+|\.(?!\d)/gu, " ").trim();
    const isPhrase = words && /^\s*"[^"]+"\s*$/.test(query);
    return [...joined, isPhrase ? `"${words}"` : words].join(" ").trim();
  };

  const listen = self.addEventListener.bind(self);
  self.addEventListener = (type, receive) => listen(type, ({ data }) => {
    if (data.type === INDEX) {
      names = data.data.docs.flatMap((entry) => entry.names ?? []);
    }
    receive({ data: data.type === QUERY ? { ...data, data: rewrite(data.data) } : data });
  });

  // A result lists the words that it does not contain. A joined name is not one of them.
  const post = self.postMessage.bind(self);
  self.postMessage = (message) => {
    if (message.type === RESULT) {
      for (const { terms } of message.data.items.flat()) {
        for (const term in terms) {
          if (term.startsWith("_") && beginsName(term)) delete terms[term];
        }
      }
    }
    post(message);
  };
}
