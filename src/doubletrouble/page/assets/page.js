/* Between the controls and the server.

   One question is asked at a time, and the newest moves go with the next. A move is a control and
   its value, as they are: only the server knows what they mean. An answer to any but the last
   question is not heard. Orders (to simulate, to download) wait until the page shows what was set. */
(function () {
  "use strict";
  const clientside = (window.dash_clientside = window.dash_clientside || {});
  const PATIENCE = 3000; // milliseconds until an answer is given up
  const REST = 350; // milliseconds without a move until it is a place in the history
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
    rest: null,
    replace: 1, // the question whose answer is at the present place in the history
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
        clientside.set_props("notes", { children: [note] });
      }
    }, PATIENCE);
    return {
      number: number,
      query: state.query.replace(/^\?/, ""),
      changes: state.sent,
      zoom: state.zoom,
      dark: dark.matches,
      narrow: narrow.matches,
    };
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
      clientside.set_props("asked", { data: question() });
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

  /* The address, and whatever takes longer than a slider should. */
  function remember(number) {
    window.clearTimeout(state.rest);
    if (number === state.replace) {
      window.history.replaceState(null, "", address());
      clientside.set_props("settled", { data: state.query });
    } else {
      state.rest = window.setTimeout(settle, REST);
    }
  }

  function address() {
    return window.location.pathname + (state.query ? "?" + state.query : "");
  }

  function settle() {
    window.clearTimeout(state.rest);
    if (address() !== window.location.pathname + window.location.search) {
      window.history.pushState(null, "", address());
    }
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
    window.clearTimeout(state.rest);
    state.query = window.location.search;
    state.moves = [];
    state.lost = false;
    state.replace = state.number + 1;
    clientside.set_props("asked", { data: question() }); // an answer under way is not heard
  });
  document.addEventListener("change", function (event) {
    const list = event.target;
    if (list.matches && list.matches("select.select") && list.value !== "") {
      move(list.id, list.value);
      ask();
    }
  });
  dark.addEventListener("change", ask);
  narrow.addEventListener("change", ask);

  /* The curves of the document itself go when the plot is there. */
  function uncover() {
    const preview = document.getElementById("preview");
    if (preview && document.querySelector("#plot .scatterlayer .trace")) {
      preview.remove();
      document.querySelector("#plot .js-plotly-plot").on("plotly_relayout", zoomed);
    } else if (preview) {
      window.requestAnimationFrame(uncover);
    }
  }
  window.requestAnimationFrame(uncover);

  function show(controls) {
    const moving = new Set(state.moves.map((one) => one[0]));
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

  clientside.page = {
    /* Controls were moved, or buttons pressed: ask now, or when the last answer has come. */
    moved: function () {
      const context = clientside.callback_context;
      if (state.known === null) {
        state.known = {};
        for (const input of context.inputs_list.flat()) {
          state.known[input.id] = input.value;
        }
        return question();
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
      return fresh && !state.waiting ? question() : clientside.no_update;
    },

    /* An answer came: show it on the controls, and ask for what was moved meanwhile. */
    answered: function (answer) {
      if (!answer || answer.number !== state.number) {
        return;
      }
      state.waiting = false;
      state.lost = false;
      state.sent = [];
      state.query = answer.query;
      for (const [name, so] of Object.entries(answer.forms)) {
        document.body.classList.toggle(name, so);
      }
      if (state.frame !== answer.frame) {
        state.frame = answer.frame;
        state.more = state.more || Object.keys(state.zoom).length > 0;
        state.zoom = {};
      }
      show(answer.controls);
      speak(answer);
      if (state.moves.length > 0 || state.more) {
        ask();
      } else {
        remember(answer.number);
        obey();
      }
    },

    /* New points of a simulation: draw them. */
    simulated: function (job) {
      if (job && job.fresh) {
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
      if (!state.waiting && state.moves.length === 0) {
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
