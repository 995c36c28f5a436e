/* Between the controls and the server.

   One question is asked at a time, and the newest moves go with the next. A move is a control and
   its value, as they are: only the server knows what they mean. An answer to any but the last
   question is not heard. The plot is drawn first, the words and controls a frame later. Orders (to
   simulate, to download) wait until the page shows what was set. The body's classes tell how far
   it is: "asking" until all of an answer is shown, "moving" until the sliders are at rest. */
(function () {
  "use strict";
  const clientside = (window.dash_clientside = window.dash_clientside || {});
  const PATIENCE = 3000; // milliseconds until an answer is given up
  const REST = 250; // milliseconds without a move until the sliders are at rest
  const PACE = 350; // milliseconds between two addresses of a drag: browsers allow three a second
  const JSON_TYPE = { "Content-Type": "application/json" };
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const narrow = window.matchMedia("(max-width: 700px)");
  const state = {
    query: window.location.search, // what the server last said it shows
    known: null, // the values of the controls, as far as the server has seen or set them
    moves: [], // those not yet sent
    sent: [], // those not yet answered
    lost: false, // whether they must be sent again
    number: 0, // of the last question
    waiting: false,
    more: false, // whether something else changed meanwhile: points, colours, the width
    orders: [],
    zoom: {}, // the ranges a reader dragged, by axis
    frame: null, // what they are ranges of
    clock: null, // until the sliders are at rest
    rest: null, // the answer of which only the plot is shown
    plot: null, // Plotly's element, when it is there
    shown: {}, // what was last set of each element, as text
    replace: 1, // the question whose answer is at the present place in the history
    dragged: null, // the control whose moves are one place in the history, until it is at rest
    written: 0, // when the address was last written
  };

  function question() {
    const number = ++state.number;
    state.sent = state.lost ? state.sent.concat(state.moves) : state.moves;
    state.moves = [];
    state.waiting = true;
    state.lost = false;
    state.more = false;
    window.setTimeout(function () {
      if (state.waiting && state.number === number) {
        state.waiting = false;
        state.lost = true; // unless it comes late
        const sentence = "The server does not answer. Is it still running?";
        const note = { type: "P", namespace: "dash_html_components", props: { children: sentence } };
        state.shown.notes = null;
        clientside.set_props("notes", { children: [note] });
      }
    }, PATIENCE);
    const asked = {
      number: number,
      query: state.query.replace(/^\?/, ""),
      changes: state.sent,
      zoom: state.zoom,
      dark: dark.matches,
      narrow: narrow.matches,
    };
    document.body.classList.add("asking");
    if (state.sent.length > 0) {
      window.clearTimeout(state.clock); // it is not at rest: its answer may be another place
      document.body.classList.add("moving");
    }
    const post = { method: "POST", headers: JSON_TYPE, body: JSON.stringify(asked) };
    window.fetch("/answer", post).then(
      (got) => (got.ok ? got.json().then(answered) : null),
      () => null // that nothing came is told when patience is at its end
    );
  }

  /* A reader dragged over the plot, or clicked it twice. */
  function zoomed(event) {
    for (const axis of ["x", "y"]) {
      const low = event[axis + "axis.range[0]"];
      if (low !== undefined) {
        state.zoom[axis] = [low, event[axis + "axis.range[1]"]];
      } else if (event[axis + "axis.autorange"]) {
        delete state.zoom[axis];
        ask();
      }
    }
  }

  function ask() {
    if (state.waiting) {
      state.more = true;
    } else {
      question();
    }
  }

  function move(id, value, button) {
    const last = state.moves[state.moves.length - 1];
    if (last && last[0] === id && !button) {
      last[1] = value; // of a slider, only where it came to rest
    } else {
      state.moves.push([id, value]);
    }
  }

  /* The address follows at once; whatever takes longer than a slider should, at rest. */
  function remember(answer) {
    window.clearTimeout(state.clock);
    if (answer.number === state.replace) {
      window.history.replaceState(null, "", address());
      rested();
      return;
    }
    if (answer.moved !== "" && answer.moved !== state.dragged) {
      write(true);
      state.dragged = answer.moved;
    } else if (performance.now() - state.written > PACE) {
      write(false);
    }
    state.clock = window.setTimeout(settle, REST);
  }

  function address() {
    return window.location.pathname + (state.query ? "?" + state.query : "");
  }

  /* What is shown, as another place in the history, or at the present one. */
  function write(another) {
    if (address() !== window.location.pathname + window.location.search) {
      window.history[another ? "pushState" : "replaceState"](null, "", address());
      state.written = performance.now();
    }
  }

  function settle() {
    window.clearTimeout(state.clock);
    write(state.dragged === null);
    state.dragged = null;
    rested();
  }

  function rested() {
    document.body.classList.remove("moving");
    clientside.set_props("settled", { data: state.query });
  }

  function obey() {
    if (state.orders.length > 0) {
      settle(); // what is ordered is ordered for what is shown
    }
    while (state.orders.length > 0) {
      const order = { what: state.orders.shift(), query: state.query, at: performance.now() };
      clientside.set_props(order.what === "png" ? "picture" : "order", { data: order });
    }
  }

  window.addEventListener("popstate", function () {
    window.clearTimeout(state.clock);
    state.query = window.location.search;
    state.moves = [];
    state.lost = false;
    state.rest = null;
    state.dragged = null;
    state.replace = state.number + 1;
    question(); // an answer under way is not heard
  });
  document.addEventListener("change", function (event) {
    const list = event.target;
    if (list.matches && list.matches("select.select") && list.value !== "") {
      move(list.id, list.value);
      ask();
    }
  });
  /* A slider: before Dash has heard of it, which takes longer than the answer does. */
  document.addEventListener(
    "input",
    function (event) {
      const slider = event.target;
      if (slider.type === "range" && state.known !== null) {
        state.known[slider.id] = slider.value;
        move(slider.id, slider.value);
        if (!state.waiting) {
          question();
        }
      }
    },
    true
  );
  dark.addEventListener("change", ask);
  narrow.addEventListener("change", ask);

  /* The curves of the document itself go when the plot is there. */
  function uncover() {
    const preview = document.getElementById("preview");
    if (preview && document.querySelector("#plot .scatterlayer .trace")) {
      preview.remove();
      state.plot = document.querySelector("#plot .js-plotly-plot");
      state.plot.on("plotly_relayout", zoomed);
    } else if (preview) {
      window.requestAnimationFrame(uncover);
    }
  }
  window.requestAnimationFrame(uncover);

  function show(controls) {
    const moving = new Set(state.sent.concat(state.moves).map((one) => one[0]));
    for (const [id, value] of Object.entries(controls)) {
      const list = document.getElementById(id);
      if (moving.has(id)) {
        continue;
      } else if (list && list.matches("select.select")) {
        list.value = value;
      } else if (String(state.known[id]) !== String(value)) {
        state.known[id] = value;
        clientside.set_props(id, { value: value });
      }
    }
  }

  /* What Dash's components do not say to screen readers by themselves. */
  function speak(answer) {
    for (const [id, words] of Object.entries(answer.spoken)) {
      const slider = document.getElementById(id);
      if (slider) {
        slider.setAttribute("aria-valuetext", words);
      }
    }
    for (const group of document.querySelectorAll(".radios")) {
      group.setAttribute("role", "radiogroup");
      group.setAttribute("aria-labelledby", group.parentElement.querySelector("legend").id);
    }
    const plot = document.getElementById("plot");
    if (plot) {
      plot.setAttribute("role", "figure"); // not img: it has buttons
      plot.setAttribute("aria-label", answer.summary);
    }
  }

  /* An answer came: draw it, ask for what was moved meanwhile, and then show the rest. */
  function answered(answer) {
    if (answer.number !== state.number) {
      return;
    }
    state.waiting = false;
    state.lost = false;
    answer.moved = state.sent.map((one) => one[0]).join(" ");
    state.sent = [];
    state.query = answer.query;
    for (const [name, so] of Object.entries(answer.forms)) {
      document.body.classList.toggle(name, so);
    }
    draw(answer.shown.plot.figure);
    delete answer.shown.plot;
    if (state.frame !== answer.frame) {
      state.frame = answer.frame;
      state.more = state.more || Object.keys(state.zoom).length > 0;
      state.zoom = {};
    }
    if (state.moves.length > 0 || state.more) {
      ask();
    }
    state.rest = answer;
    if (document.hidden) {
      window.setTimeout(finish); // no frame will come
    } else {
      window.requestAnimationFrame(() => window.setTimeout(finish));
    }
  }

  /* Past Dash, once it has made the plot: the eye follows this, and should not wait for words. */
  function draw(figure) {
    if (state.plot) {
      window.Plotly.react(state.plot, figure.data, figure.layout);
    } else {
      clientside.set_props("plot", { figure: figure });
    }
  }

  /* The words and controls of the last answer. */
  function finish() {
    const answer = state.rest;
    state.rest = null;
    if (answer === null) {
      return; // there is a later one
    }
    if (answer.moved === "" && answer.number !== state.replace && state.shown.notes !== null) {
      delete answer.shown.notes; // nothing was asked for: what was said of it stays
    }
    for (const [id, properties] of Object.entries(answer.shown)) {
      const text = JSON.stringify(properties);
      if (state.shown[id] !== text) {
        state.shown[id] = text;
        clientside.set_props(id, properties);
      }
    }
    show(answer.controls);
    speak(answer);
    if (!state.waiting) {
      document.body.classList.remove("asking");
      remember(answer);
      obey();
    }
  }

  clientside.page = {
    /* Controls were moved, or buttons pressed: ask now, or when the last answer has come. */
    moved: function () {
      const context = clientside.callback_context;
      if (state.known === null) {
        state.known = {};
        for (const input of context.inputs_list.flat()) {
          state.known[input.id] = input.value;
        }
        question();
        return;
      }
      let fresh = false;
      for (const moved of context.triggered) {
        const [id, property] = moved.prop_id.split(".");
        if (String(state.known[id]) !== String(moved.value)) {
          state.known[id] = moved.value;
          move(id, moved.value, property === "n_clicks");
          fresh = true;
        }
      }
      if (fresh && !state.waiting) {
        question();
      }
    },

    /* New points of a simulation, or the best time to stop: draw them. */
    found: function (news) {
      if (news && news.fresh) {
        ask();
      }
    },

    /* A button that needs the page to show what was set. */
    ordered: function () {
      for (const pressed of clientside.callback_context.triggered) {
        if (pressed.value) {
          state.orders.push(pressed.prop_id.split(".")[0]);
        }
      }
      if (!state.waiting && state.rest === null && state.moves.length === 0) {
        obey();
      }
    },

    picture: function (order) {
      const plot = document.querySelector("#plot .js-plotly-plot");
      if (order && plot) {
        window.Plotly.downloadImage(plot, {
          format: "png",
          scale: 2,
          width: plot.clientWidth,
          height: plot.clientHeight,
          filename: "doubletrouble",
        });
      }
    },
  };
})();
