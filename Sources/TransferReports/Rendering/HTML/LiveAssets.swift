/// Additional style and script of a page in `transfers serve` (see ``HTMLAssets``): refreshing and buttons. Also
/// allowed by their digests.
enum LiveAssets {
  /// SHA-256 in base64; a test computes them.
  static let styleDigest = "ufFn/q6JoPT5v/RCrO+n6zyTB/ZaX07xGruqOShzeRM="
  static let scriptDigest = "UFKHCdhRwb+ZDmZZt4zWDDrcELl+OB370PXQTKHatP0="
  static let entryDigest = "FkdUkxEnpHaWOmrEIZ+hFaBnIJOzFujs+3ov1Z3hpyg="

  static let style = """
    .site{display:flex;flex-wrap:wrap;gap:.3rem 1rem;align-items:center;margin-bottom:.6rem}.site a{margin:0;text-decoration:none;font-weight:600}
    .site a[aria-current]{color:var(--text);border-bottom:2px solid var(--accent)}
    #live{margin-left:auto;color:var(--muted);font-size:.85rem}#live::before{content:"";display:inline-block;width:.6rem;height:.6rem;border-radius:50%;
    margin-right:.4rem;background:var(--good)}#live.lost::before{background:var(--bad)}#live.still::before{background:var(--muted)}
    #said{position:sticky;bottom:.5rem;background:var(--card);border:1px solid var(--accent);border-radius:6px;padding:.5rem .8rem;margin:1rem 0;overflow-wrap:anywhere}
    #said:empty{display:none}
    @media(min-width:44rem){.act{position:sticky;right:0;z-index:1;background:var(--bg);border-left:1px solid var(--line)}th.act{background:var(--card);z-index:3}}
    .do{display:flex;flex-wrap:wrap;gap:.4rem;margin:.6rem 0;align-items:center}td.act{overflow:visible}
    .do button,.act button{font:inherit;font-size:.85rem;color:var(--text);background:var(--card);border:1px solid var(--line);border-radius:6px;
    padding:.15rem .6rem;cursor:pointer}.act button{margin-right:.25rem}
    .do button:hover,.act button:hover{border-color:var(--accent)}.do button:focus-visible,.act button:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
    button.armed{background:var(--bad)!important;border-color:var(--bad)!important;color:var(--bg)!important}button:disabled{opacity:.5;cursor:default}
    form.enter{max-width:26rem;margin:4rem auto;display:grid;gap:.8rem}form.enter button{font:inherit;padding:.4rem;cursor:pointer}
    form.enter input{width:100%}
    @media print{.site,.do,.act,#said{display:none}}
    """

  /// Polls for changes: once a second for the section `now`. A page that takes long to render is polled so rarely that
  /// rendering takes a twentieth of the time. Destructive buttons must be pressed twice.
  static let script = """
    {const mode=document.documentElement.dataset.live,live=document.getElementById("live"),said=document.getElementById("said"),tags=new Map();
    const names={pause:"Pause",resume:"Resume",retry:"Retry",cancel:"Cancel",rm:"Delete",clean:"Clear"};
    const words={pause:"Stops sending until resumed",resume:"Continues",retry:"Tries again",
    cancel:"Ends it permanently, and aborts its upload on the server",
    rm:"Hides it, and cancels it if it is not finished. Nothing is deleted at the destination",
    clean:"Hides finished files; reports still include them"};
    const fit={pause:["settling","pending","active","finishing"],resume:["paused"],retry:["failed","unknown","cancelled"],
    cancel:["settling","pending","active","finishing","paused","failed","unknown"],rm:null,clean:["done","cancelled","superseded"]};
    const tell=text=>{said.textContent=text};
    const act=async(verb,terms,button)=>{button.disabled=true;try{
    const answer=await fetch("/api/v1/"+verb,{method:"POST",headers:{"Content-Type":"application/json"},body:JSON.stringify(terms)});
    const document=await answer.json();if(!answer.ok)tell(document.message);else{const d=document.data;
    tell(names[verb]+(d.changed+d.asked+d.unaffected===0?": no file among those that this server shows.":": "+d.changed+" changed"+(d.asked?", "+d.asked+" requested from the engine":"")+(d.unaffected?", "+d.unaffected+" unchanged":"")+"."))}
    }catch{tell(names[verb]+": no answer.")}button.disabled=false;soon()};
    const button=(verb,text,terms,asks)=>{const b=document.createElement("button");b.type="button";b.textContent=text;b.title=words[verb];b.dataset.verb=verb;
    b.addEventListener("click",()=>{if(asks&&!b.classList.contains("armed")){b.classList.add("armed");b.textContent="Really "+text.toLowerCase()+"?";
    setTimeout(()=>{b.classList.remove("armed");b.textContent=text},4000);return}b.classList.remove("armed");b.textContent=text;act(verb,terms(),b)});return b};
    const arranged=["limit","sort","by","bucket","sla","facet","columns","format","map","page"];
    const page=()=>{const terms={};for(const[k,v]of new URLSearchParams(location.search)){if(!arranged.includes(k))(terms[k]=terms[k]||[]).push(v)}
    return Object.keys(terms).length?terms:{all:["true"]}};
    const rows=t=>{const heads=[...t.tHead.rows[0].cells],id=heads.findIndex(h=>h.dataset.key==="id"),state=heads.findIndex(h=>h.dataset.key==="state"),batch=heads.findIndex(h=>h.dataset.key==="batch");
    const link=c=>{const text=c?c.textContent:"",kind=text[0]==="f"?"files":"batches";if(!/^[fb][0-9]+$/.test(text))return"";
    const a=document.createElement("a");a.href="/"+kind+"/"+text;a.textContent=text;c.replaceChildren(a);return kind};
    if(id<0||t.dataset.live)return;t.dataset.live="1";const acts=mode==="control"&&state>=0&&[...t.tBodies[0].rows].some(r=>/^f[0-9]+$/.test(r.cells[id]?.textContent));
    if(acts){const h=document.createElement("th");h.scope="col";h.className="act";h.textContent="Actions";t.tHead.rows[0].append(h)}
    for(const r of t.tBodies[0].rows){const c=r.cells[id];if(r.className==="note"){if(acts)r.cells[0].colSpan+=1;continue}if(!c)continue;
    const text=c.textContent,kind=link(c);link(r.cells[batch]);
    if(!acts||kind!=="files")continue;const cell=r.insertCell(),now=r.cells[state].textContent;cell.className="act";
    for(const verb of Object.keys(names))if(!fit[verb]||fit[verb].includes(now))
    cell.append(button(verb,names[verb],()=>({id:[text]}),verb==="cancel"||verb==="rm"))}};
    const one=location.pathname.match(/^.(files|batches).([fb][0-9]+)$/);
    const all=()=>{if(mode!=="control")return;const place=document.getElementById("section-now")||one&&document.querySelector("main");
    if(!place||place.querySelector(":scope>.do"))return;const bar=document.createElement("div");bar.className="do";
    const terms=one?()=>({id:[one[2]]}):page,what=one?"":page().all?" all":" these";
    for(const verb of["pause","resume","retry","clean","cancel","rm"]){const t=verb==="retry"&&!one?()=>({...terms(),...(terms().state?{}:{state:["failed"]})}):terms;
    const fixed=()=>{const x=t();if(x.state)delete x.all;return x};
    bar.append(button(verb,names[verb]+(verb==="retry"&&!one?" failed":verb==="clean"&&!one?" finished":what),fixed,verb==="cancel"||verb==="rm"))}
    const title=place.querySelector(":scope>h2");title?title.after(bar):place.prepend(bar)};
    const decorate=()=>{for(const t of document.querySelectorAll("table[id]"))rows(t);all()};
    const fetched=async path=>{const answer=await fetch(path,{headers:tags.has(path)?{"If-None-Match":tags.get(path)}:{}});
    if(answer.status===304)return null;if(answer.status===401)return location.reload();if(!answer.ok)throw new Error(answer.status);
    tags.set(path,answer.headers.get("ETag"));return new DOMParser().parseFromString(await answer.text(),"text/html")};
    const busy=place=>place.querySelector("button.armed,button:disabled")||place.contains(document.activeElement)&&document.activeElement.matches("input");
    const show=(place,next)=>{if(!place||!next||busy(place))return false;const had=document.activeElement&&document.activeElement.dataset.verb?null:document.activeElement;
    const scrolls=[...place.querySelectorAll(".scroll")].map(s=>[s.scrollLeft,s.scrollTop]);place.replaceChildren(...next.childNodes);
    [...place.querySelectorAll(".scroll")].forEach((s,i)=>{if(scrolls[i])[s.scrollLeft,s.scrollTop]=scrolls[i]});
    dispatchEvent(new Event("refreshed"));decorate();if(had&&had.isConnected)had.focus();return true};
    let due=0,timer,shownAt=Date.now();const overview=!!document.getElementById("section-now");
    const look=async()=>{clearTimeout(timer);let fresh=false;try{if(!document.hidden){
    if(overview){const place=document.getElementById("section-now");if(!busy(place)){const next=await fetched("/now"+location.search);
    if(next)fresh=show(place,next.getElementById("section-now"))}}
    if(Date.now()>=due){const began=performance.now(),next=await fetched(location.pathname+location.search);
    due=Date.now()+Math.max(overview?15000:1000,20*(performance.now()-began));
    if(next){fresh=show(document.querySelector("main"),next.querySelector("main"))||fresh;
    const nav=next.querySelector("header nav.parts"),old=document.querySelector("header nav.parts");if(nav&&old)old.replaceWith(nav)}}
    live.className="";if(fresh)shownAt=Date.now();live.textContent="live, changed "+new Date(shownAt).toLocaleTimeString()}
    }catch(e){live.className="lost";live.textContent="no connection to transfers serve"}timer=setTimeout(look,1000)};
    const soon=()=>{if(!overview)due=0;clearTimeout(timer);timer=setTimeout(look,50)};
    tags.set(location.pathname+location.search,document.documentElement.dataset.tag);due=Date.now()+(overview?15000:1000);
    document.addEventListener("visibilitychange",()=>{if(!document.hidden)soon()});
    decorate();live.className="";live.textContent="live";timer=setTimeout(look,1000)}
    """

  /// Takes the token from the fragment of the URL, which is never sent, and exchanges it for a session.
  static let entry = """
    const token=new URLSearchParams(location.hash.slice(1)).get("token");
    if(token){history.replaceState(null,"",location.pathname+location.search);
    document.querySelector("input[name=token]").value=token;document.querySelector("form").submit()}
    """
}
